/** The faults of a part, and their ends. Each resolves to a text that says what was done; to nothing if it cannot be done. */
export async function killOrRevive(part) {
  if (part.state === 'starting') return undefined
  if (part.state === 'killed' || part.state === 'ended') return await revive(part)
  await part.kill()
  return `killed ${part.name}`
}

export async function freezeOrThaw(part) {
  if (part.state === 'frozen') {
    part.thaw()
    return `thawed ${part.name}`
  }
  if (part.state !== 'running') return undefined
  part.freeze()
  return `froze ${part.name}`
}

/** Whatever was done to it. Resolves when it is open. */
export async function revive(part) {
  if (part.state === 'frozen') return await freezeOrThaw(part)
  await part.start()
  part.tell?.('write')
  return `revived ${part.name}`
}
