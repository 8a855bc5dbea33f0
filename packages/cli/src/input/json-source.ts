/*
 * Finds the places of values in JSON that is known to be valid. Lines may have 64 MiB, and arrays may contain arrays to any depth.
 * So strings are skipped from quote to quote, and no function here calls itself.
 */

/** Returns the values of an object as they are written, by their keys. */
export function sourcesOf(json: string): Map<string, string> {
  const sources = new Map<string, string>()
  let at = json.indexOf('"')
  while (at !== -1) {
    const key = json.slice(at, stringEnd(json, at))
    const start = valueStart(json, at + key.length)
    const end = valueEnd(json, start)
    sources.set(JSON.parse(key), json.slice(start, end))
    at = json.indexOf('"', end)
  }
  return sources
}

/** Returns the same JSON without spaces between its values. */
export function compact(json: string): string {
  let text = ''
  let at = 0
  for (;;) {
    const quote = json.indexOf('"', at)
    const between = json.slice(at, quote === -1 ? json.length : quote)
    text += between.replace(/\s+/g, '')
    if (quote === -1) return text
    at = stringEnd(json, quote)
    text += json.slice(quote, at)
  }
}

/** Returns the place after the string that begins with this quote. */
function stringEnd(json: string, quote: number): number {
  let end = quote
  do end = json.indexOf('"', end + 1)
  while (isEscaped(json, end))
  return end + 1
}

/** Returns whether the number of backslashes before a quote is odd. */
function isEscaped(json: string, quote: number): boolean {
  let first = quote
  while (json[first - 1] === '\\') first--
  return (quote - first) % 2 === 1
}

function valueStart(json: string, keyEnd: number): number {
  const start = /\s*:\s*/y
  start.lastIndex = keyEnd
  start.test(json)
  return start.lastIndex
}

function valueEnd(json: string, start: number): number {
  const first = json[start]
  if (first === '"') return stringEnd(json, start)
  return first === '{' || first === '[' ? bracketsEnd(json, start) : wordEnd(json, start)
}

function bracketsEnd(json: string, start: number): number {
  for (let at = start, depth = 0; ; at++) {
    const character = json[at]
    if (character === '"') at = stringEnd(json, at) - 1
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
}

function wordEnd(json: string, start: number): number {
  const word = /[^\s,}]+/y
  word.lastIndex = start
  word.test(json)
  return word.lastIndex
}
