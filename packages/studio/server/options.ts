/** Refuses options that do not exist, by their names: one that is misspelt would do nothing. */
export function checkOptions(where: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new TypeError(`${where}: there is no option '${unknown}'; there are ${known.join(', ')}`)
}
