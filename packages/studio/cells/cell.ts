/**
 * A value as server and page exchange it: null, or a letter for the storage class and the value as text. So integers keep all
 * their digits, 1 and 1.0 differ, and long values are cut off.
 *
 * `i` INTEGER · `r` REAL · `t` TEXT · `T5000:` the beginning of a TEXT of 5000 characters · `b` BLOB in hexadecimal digits ·
 * `B5000:` the beginning of a BLOB of 5000 bytes · `x` TEXT in a key by the bytes that the file has, in hexadecimal digits
 */
export type Cell = string | null

/** A cell as SQL makes it: a REAL comes as a number, whose digits no text of SQLite's own gives back for sure. */
export type SentCell = Cell | number

export type Kind = 'null' | 'integer' | 'real' | 'text' | 'blob'

const KINDS: Record<string, Kind> = {
  i: 'integer',
  r: 'real',
  t: 'text',
  T: 'text',
  x: 'text',
  b: 'blob',
  B: 'blob',
}

/** The part of a long text that a grid shows, in characters; of a BLOB, in hexadecimal digits. */
const SHOWN_TEXT = 200
const SHOWN_DIGITS = 48

export function cellOf(sent: SentCell): Cell {
  return typeof sent === 'number' ? `r${realText(sent)}` : sent
}

/** A REAL as the command line and JSON write it: the shortest digits that give it back, with a point or an exponent. */
export function realText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '9e999'
  if (value === Number.NEGATIVE_INFINITY) return '-9e999'
  const text = Object.is(value, -0) ? '-0' : String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

export function kindOf(cell: Cell): Kind {
  return cell === null ? 'null' : (KINDS[cell[0] as string] ?? 'text')
}

/** Tells if only the beginning was sent. */
export function isCut(cell: Cell): boolean {
  return cell?.[0] === 'T' || cell?.[0] === 'B'
}

/** The value as text, without the letter and the length. */
export function textOf(cell: Cell): string {
  if (cell === null) return ''
  return isCut(cell) ? cell.slice(cell.indexOf(':') + 1) : cell.slice(1)
}

/** The length of a value that was cut off: in characters or bytes. */
export function lengthOf(cell: string): number {
  return Number.parseInt(cell.slice(1), 10)
}

/** Why a text is no value of a storage class. Each pattern reads a character once, however long the text is. */
export function misfit(kind: Kind, text: string): string | undefined {
  if (kind === 'integer') {
    if (!/^[+-]?\d{1,19}$/.test(text)) return 'An INTEGER is a sign and up to 19 digits.'
    const value = BigInt(text.replace('+', ''))
    if (BigInt.asIntN(64, value) !== value) return 'This is too large for an INTEGER, which has 64 bits.'
  }
  if (kind === 'real' && !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text))
    return 'A REAL is a number such as 1.5 or 1e-9; 9e999 is infinity.'
  if (kind === 'blob' && (text.length % 2 === 1 || !/^[\da-f]*$/i.test(text)))
    return 'A BLOB is written as pairs of hexadecimal digits.'
  return undefined
}

/** The cell of a text that fits the storage class, as it will be shown when it is stored. */
export function cellFrom(kind: Kind, text: string): Cell {
  if (kind === 'null') return null
  if (kind === 'integer') return `i${BigInt(text.replace('+', ''))}`
  if (kind === 'real') return `r${realText(Number(text))}`
  return kind === 'blob' ? `b${text.toUpperCase()}` : `t${text}`
}

/** The text that a cell of a grid shows: one line, in which characters that cannot be seen are visible. */
export function shownText(cell: Cell): string {
  if (cell === null) return 'NULL'
  const text = textOf(cell)
  const most = kindOf(cell) === 'blob' ? SHOWN_DIGITS : SHOWN_TEXT
  const end = isCut(cell) || text.length > most ? '…' : ''
  if (kindOf(cell) === 'blob') {
    const bytes = isCut(cell) ? lengthOf(cell) : text.length / 2
    return `${bytes} B  ${spaced(text.slice(0, most))}${end}`
  }
  if (cell[0] === 'x') return visible(textOfBytes(text).slice(0, most)) + end
  return `${visible(text.slice(0, most))}${end}`
}

/** Bytes of a text, as well as they can be read. */
function textOfBytes(digits: string): string {
  return new TextDecoder().decode(
    Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
  )
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
