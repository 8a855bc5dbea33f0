/** A value as the server sends it: see `server/cells.ts`. */
export type Cell = string | null

export type Kind = 'null' | 'integer' | 'real' | 'text' | 'blob'

const KINDS: Record<string, Kind> = { i: 'integer', r: 'real', t: 'text', T: 'text', b: 'blob', B: 'blob' }

export function kindOf(cell: Cell): Kind {
  return cell === null ? 'null' : (KINDS[cell[0] as string] ?? 'text')
}

/** Whether only the beginning was sent. */
export function isCut(cell: Cell): boolean {
  return cell?.[0] === 'T' || cell?.[0] === 'B'
}

/** The value as text, without the letter and the length. */
export function textOf(cell: Cell): string {
  if (cell === null) return ''
  return isCut(cell) ? cell.slice(cell.indexOf(':') + 1) : cell.slice(1)
}

/** What a cell of a grid shows: one line, in which characters that cannot be seen are visible. */
export function shownText(cell: Cell): string {
  if (cell === null) return 'NULL'
  const text = textOf(cell)
  if (kindOf(cell) === 'blob') return `${bytesOf(cell)} B  ${spaced(text)}${isCut(cell) ? '…' : ''}`
  return `${visible(text)}${isCut(cell) ? '…' : ''}`
}

function bytesOf(cell: string): number {
  return cell[0] === 'B' ? Number.parseInt(cell.slice(1), 10) : (cell.length - 1) / 2
}

function spaced(digits: string): string {
  return digits.replace(/(..)(?=.)/g, '$1 ')
}

/** Line ends as ⏎, other control characters as their pictures, and marks that turn the direction of text as their numbers. */
export function visible(text: string): string {
  return text
    .replace(/\r?\n/g, '⏎')
    .replace(/\p{Cc}/gu, (character) => pictureOf(character.charCodeAt(0)))
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) => `‹${mark.charCodeAt(0).toString(16)}›`)
}

/** Unicode has a picture for each of the first 32 control characters. */
function pictureOf(code: number): string {
  return code < 32 ? String.fromCharCode(0x2400 + code) : '␦'
}
