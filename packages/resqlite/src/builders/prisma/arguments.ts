import type { ArgType } from '@prisma/driver-adapter-utils'
import type { SqlValue } from '../../core/types'

/** The form in which a `DateTime` is stored. */
export type TimestampFormat = 'iso8601' | 'unixepoch-ms'

/**
 * Returns the arguments of a Prisma query as SQLite stores them. A value that cannot be stored is refused when it is bound.
 */
export function sqlValues(
  args: readonly unknown[],
  types: readonly ArgType[],
  format: TimestampFormat,
): SqlValue[] {
  return args.map((arg, index) => sqlValue(arg, types[index], format))
}

function sqlValue(arg: unknown, type: ArgType | undefined, format: TimestampFormat): SqlValue {
  if (arg instanceof Date) return timestamp(arg, format)
  if (typeof arg !== 'string') return arg as SqlValue
  switch (type?.scalarType) {
    case 'int':
    case 'bigint':
      return BigInt(arg)
    case 'float':
    case 'decimal':
      return Number.parseFloat(arg)
    case 'datetime':
      return timestamp(new Date(arg), format)
    case 'bytes':
      return Buffer.from(arg, 'base64')
    default:
      return arg
  }
}

/**
 * Returns a timestamp. Text has `+00:00` in place of `Z`: Prisma compares timestamps as text, and has always written them
 * this way.
 */
function timestamp(date: Date, format: TimestampFormat): SqlValue {
  return format === 'unixepoch-ms' ? date.getTime() : date.toISOString().replace('Z', '+00:00')
}
