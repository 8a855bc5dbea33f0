/** The delimiters that are recognised. Of those that stand equally often in a line, the first is meant. */
const KNOWN = [',', ';', '\t', '|']

/**
 * Returns the delimiter of CSV by its header: the one that stands there most often, outside of quotes. A character that is part of
 * `nullText` is none.
 */
export function foundDelimiter(text: string, nullText: string): string {
  const [header = ''] = text
    .replace(/"(?:[^"]|"")*"?/g, '')
    .trimStart()
    .split(/[\r\n]/, 1)
  let found = ','
  let most = 0
  for (const delimiter of KNOWN.filter((character) => !nullText.includes(character))) {
    const count = header.split(delimiter).length - 1
    if (count > most) [found, most] = [delimiter, count]
  }
  return found
}
