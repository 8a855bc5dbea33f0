import { type Check, integer, milliseconds } from 'resqlite/seam'

const NAME = /^[A-Za-z0-9_-]{1,64}$/

/** Checks for a name that can be part of a subject or a key. */
export const name: Check = (value) =>
  typeof value === 'string' && NAME.test(value) ? undefined : "a name of 1 to 64 letters, digits, '-' and '_'"

/** Checks for addresses of servers, at least one. */
export const addresses: Check = (value) =>
  areTexts(value) && value.length > 0 ? undefined : 'an array of addresses, at least one'

export const texts: Check = (value) => (areTexts(value) ? undefined : 'an array of addresses')

export const file: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'the path of a file'

export const time: Check = milliseconds

export const replicas: Check = (value) => ([1, 3, 5].includes(value as number) ? undefined : '1, 3 or 5')

/** Checks for a number of bytes. It must be at least 524,288, because a piece of a snapshot has that size. */
export const bytes: Check = integer(524_288, 2 ** 31 - 1)

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string' && text !== '')
}
