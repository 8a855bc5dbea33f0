/** What can be done to a part, and what undoes it. Each resolves to what was done, in words; to nothing where it cannot be. */
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
