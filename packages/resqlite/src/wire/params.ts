import { types } from 'node:util'
import { rangeError, typeError } from '../core/errors'
import { MAX_PARAMETERS, VALUE_BYTES } from '../core/limits'
import { isPart, isUtf8, type Utf8 } from '../core/utf8'
import type { FrameWriter } from './frame-writer'
import { Tag } from './protocol'

const CODE = 'RESQLITE_PARAMETER'
/** The `set` of parameters that are not in a batch. */
const NO_SET = -1
const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

/**
 * Writes the parameters of a statement. Throws a TypeError or RangeError that names the parameter; the caller drops the
 * frame, so nothing runs. In a batch, `set` is the index of the parameter set, which errors name.
 */
export function writeParams(writer: FrameWriter, params: unknown, set = NO_SET): void {
  if (params === undefined && set === NO_SET) writer.u32(0)
  else if (Array.isArray(params)) writePositional(writer, params, set)
  else if (isPlainObject(params)) writeNamed(writer, params, set)
  else throw typeError(`${inSet(set)}${misuse(params)}`, CODE, writeParams)
}

function writePositional(writer: FrameWriter, params: readonly unknown[], set: number): void {
  const count = params.length
  checkCount(count, set)
  writer.u32(count)
  // If there are many sets, it pays to write most of their values in one loop.
  const isInBatch = set !== NO_SET
  let at = isInBatch ? writer.plainValues(params, 0, count) : 0
  while (at < count) {
    writeValue(writer, params[at], set, at + 1)
    at++
    if (isInBatch) at = writer.plainValues(params, at, count)
  }
}

function writeNamed(writer: FrameWriter, params: Record<string, unknown>, set: number): void {
  const names = Object.keys(params)
  checkCount(names.length, set)
  writer.u32(names.length | (1 << 16))
  for (const name of names) {
    if (!writer.shortText(name))
      throw rangeError(`${inSet(set)}parameter name is longer than 65535 bytes`, CODE, writeParams)
    writeValue(writer, params[name], set, name)
  }
}

function checkCount(count: number, set: number): void {
  if (count > MAX_PARAMETERS) {
    throw rangeError(
      `${inSet(set)}${count} parameters are given, but a statement has at most ${MAX_PARAMETERS}`,
      CODE,
      writeParams,
    )
  }
}

function writeValue(writer: FrameWriter, value: unknown, set: number, label: string | number): void {
  if (typeof value === 'number') writeNumber(writer, value, set, label)
  else if (typeof value === 'string') writeText(writer, value, set, label)
  else if (value === null) writer.u8(Tag.NULL)
  else if (typeof value === 'boolean') writer.taggedI32(Tag.INT32, value ? 1 : 0)
  else if (typeof value === 'bigint') writeBigInt(writer, value, set, label)
  else if (isUtf8(value)) writeUtf8(writer, value, set, label)
  else if (types.isUint8Array(value)) writeBlob(writer, value, set, label)
  else throw typeError(`${inSet(set)}${named(label)} is ${refusal(value)}`, CODE, writeParams)
}

function writeNumber(writer: FrameWriter, value: number, set: number, label: string | number): void {
  if ((value | 0) === value && !Object.is(value, -0)) writer.taggedI32(Tag.INT32, value)
  else if (Number.isSafeInteger(value) && !Object.is(value, -0)) writer.taggedF64(Tag.INTEGER, value)
  else if (!Number.isNaN(value)) writer.taggedF64(Tag.REAL, value)
  else throw refusedNaN(set, label)
}

function writeText(writer: FrameWriter, value: string, set: number, label: string | number): void {
  if (writer.defersTexts && writer.deferText(Tag.DEFERRED, value)) return
  if (value.length > VALUE_BYTES) throw tooLong(set, label)
  writer.u8(Tag.TEXT)
  writer.text(value)
}

function writeUtf8(writer: FrameWriter, text: Utf8, set: number, label: string | number): void {
  const { bytes, start, end } = text
  // Since the `Utf8` was made, its buffer may have been detached or have shrunk, and JavaScript may change its properties.
  if (!isPart(bytes, start, end) || (bytes.length === 0 && isDetached(bytes)))
    throw typeError(
      `${inSet(set)}${named(label)} is a Utf8 whose bytes are not there any more`,
      CODE,
      writeParams,
    )
  if (end - start > VALUE_BYTES) throw tooLong(set, label)
  if (writer.taggedUtf8(Tag.TEXT, bytes, start, end)) return
  throw typeError(
    `${inSet(set)}${named(label)} is a Utf8 whose bytes are not UTF-8; pass a Uint8Array for a BLOB`,
    CODE,
    writeParams,
  )
}

function writeBigInt(writer: FrameWriter, value: bigint, set: number, label: string | number): void {
  if (value < MIN_INT64 || value > MAX_INT64) {
    const message = `${inSet(set)}${named(label)} is ${shortened(value)}, which does not fit a 64-bit integer`
    throw rangeError(message, CODE, writeParams)
  }
  writer.taggedI64(Tag.INT64, value)
}

function writeBlob(writer: FrameWriter, value: Uint8Array, set: number, label: string | number): void {
  if (value.length > VALUE_BYTES) throw tooLong(set, label)
  if (value.length === 0 && isDetached(value)) {
    throw typeError(
      `${inSet(set)}${named(label)} is ${kindOf(value)} whose buffer is detached; pass it before the buffer is transferred, or pass a copy`,
      CODE,
      writeParams,
    )
  }
  writer.u8(Tag.BLOB)
  writer.blob(value)
}

/** Returns whether the buffer of an array of length 0 is detached. */
function isDetached(value: Uint8Array): boolean {
  try {
    new Uint8Array(0).set(value)
    return false
  } catch {
    return true
  }
}

/** Returns whether a value was made by `{}` or `Object.create(null)`, in this realm or another. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

function inSet(set: number): string {
  return set === NO_SET ? '' : `set at index ${set}, `
}

function named(label: string | number): string {
  if (typeof label === 'number') return `parameter ${label}`
  return /^[:@$]/.test(label) ? `parameter ${label}` : `parameter :${label}`
}

function misuse(params: unknown): string {
  return `params is ${kindOf(params)}; pass an array, as in [value], or an object with the names as keys`
}

function refusal(value: unknown): string {
  if (value === undefined) return 'undefined; pass null for NULL'
  if (value instanceof Date) return 'a Date; pass date.toISOString() or date.getTime()'
  if (types.isAnyArrayBuffer(value))
    return `${kindOf(value)}; pass a Uint8Array, as in new Uint8Array(buffer)`
  if (ArrayBuffer.isView(value)) {
    return `${kindOf(value)}; pass a Uint8Array, as in new Uint8Array(view.buffer, view.byteOffset, view.byteLength)`
  }
  if (Array.isArray(value)) {
    return 'an array; for IN, pass JSON.stringify(array) to IN (SELECT value FROM json_each(?)), or write the list with sql.join'
  }
  return `${kindOf(value)}; a parameter is null, a number, bigint, string, boolean, Uint8Array or Utf8`
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object')
    return /^[aeiou]/.test(typeof value) ? `an ${typeof value}` : `a ${typeof value}`
  if (isPlainObject(value)) return 'an object'
  const name: string | undefined = value.constructor?.name
  if (!name) return 'an object'
  return /^[AEIOU]/.test(name) && !/^U/.test(name) ? `an ${name}` : `a ${name}`
}

function refusedNaN(set: number, label: string | number): RangeError {
  return rangeError(
    `${inSet(set)}${named(label)} is NaN, which SQLite would store as NULL; pass null instead`,
    CODE,
    writeParams,
  )
}

function tooLong(set: number, label: string | number): RangeError {
  return rangeError(`${inSet(set)}${named(label)} is longer than ${VALUE_BYTES} bytes`, CODE, writeParams)
}

function shortened(value: bigint): string {
  const digits = value.toString()
  return digits.length > 40 ? `${digits.slice(0, 40)}…` : digits
}
