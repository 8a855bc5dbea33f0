import { isUtf8 } from 'node:buffer'
import { InvalidArgumentError, Option } from 'commander'
import type { SqlParams, SqlValue } from 'resqlite'
import type { Context } from '../core/context.js'
import type { CsvStyle } from '../core/csv-style.js'
import { UsageError } from '../core/errors.js'
import { looksLikeValue } from '../core/literals.js'
import { exactNumber } from '../input/json-number.js'
import { Real } from '../input/records.js'

/** Returns the option `--param name=value`, which can be given several times. */
export function paramOption(): Option {
  return new Option(
    '-p, --param <name=value>',
    'a parameter of the SQL, by its name or its number; JSON numbers, null, true, false and "quoted text" are what they are in JSON, anything else is text; a whole number is an INTEGER, 1.0 too, which CAST(:name AS REAL) makes REAL',
  ).argParser(addParam)
}

/** Returns the option `--immutable`, for commands that only read. */
export function immutableOption(): Option {
  return new Option(
    '--immutable',
    'read a file that nobody changes meanwhile, without files beside it: for places where nothing can be written',
  )
}

export type GivenParams = ReadonlyMap<string, SqlValue>

function addParam(given: string, before: GivenParams | undefined): GivenParams {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(given) ?? []
  if (name === undefined)
    throw new InvalidArgumentError(
      'It must look like name=value, or 1=value for the first parameter without a name.',
    )
  return new Map(before).set(name, paramValue(value as string))
}

/** Returns the parameters: numbered ones by number, and named ones by name. */
export function paramsOf(given: GivenParams | undefined): SqlParams | undefined {
  if (given === undefined) return undefined
  const numbers = [...given.keys()].filter((name) => /^[1-9]\d*$/.test(name)).map(Number)
  if (numbers.length === 0) return Object.fromEntries(given)
  const largest = Math.max(...numbers)
  if (numbers.length < given.size)
    throw new UsageError('parameters must be given all by name, or all by number')
  if (largest > numbers.length)
    throw new UsageError(`of ${largest} parameters, only ${numbers.length} are given`)
  return Array.from({ length: largest }, (_, index) => given.get(String(index + 1)) as SqlValue)
}

function paramValue(text: string): SqlValue {
  try {
    const value = JSON.parse(text)
    if (typeof value === 'number') return plainNumber(text)
    if (typeof value !== 'object' || value === null) return value
  } catch {
    // The argument is not JSON, so it is text as it is.
  }
  return text
}

function plainNumber(text: string): SqlValue {
  const number = exactNumber(text.trim())
  return number instanceof Real ? number.value : number
}

/** Returns the SQL of an argument. `-` stands for the text on stdin. */
export async function sqlOf(argument: string, { stdin, signal }: Context): Promise<string> {
  if (argument !== '-') return argument
  const chunks: Uint8Array[] = []
  signal.addEventListener('abort', () => stdin.destroy(), { once: true })
  for await (const chunk of stdin) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  if (!isUtf8(bytes)) throw new UsageError('the SQL on stdin is not UTF-8')
  return bytes.toString()
}

/** Returns a parser of whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}

/** Returns the requested style of CSV. Refuses a text for NULL that could not be distinguished from other fields. */
export function csvStyle({ delimiter, null: nullText }: { delimiter: string; null: string }): CsvStyle {
  if (/["\r\n]|^\s|\s$/.test(nullText) || nullText.includes(delimiter))
    throw new UsageError('--null must have no quote, delimiter or line end, and no space around it')
  if (looksLikeValue(nullText)) throw new UsageError('--null must not be a number or a BLOB')
  return { delimiter, nullText }
}

/**
 * Parses a delimiter of CSV; `\t` or `tab` stand for a tab. A delimiter must not be part of a number or a BLOB, which are written
 * without quotes.
 */
export function delimiter(text: string): string {
  if (text === '\\t' || text === 'tab') return '\t'
  if (/^[^"\r\n\ud800-\udfff\w.+'-]$/.test(text)) return text
  throw new InvalidArgumentError(
    'It must be one character, and no letter, digit, quote, point, sign or line end.',
  )
}

/** Parses the name of an encoding. */
export function encoding(text: string): string {
  try {
    return new TextDecoder(text).encoding
  } catch {
    throw new InvalidArgumentError('It must be an encoding, such as utf-16le, windows-1252 or shift_jis.')
  }
}

/** Parses a list of names. */
export function names(text: string): string[] {
  return text.split(',').map((name) => name.trim())
}
