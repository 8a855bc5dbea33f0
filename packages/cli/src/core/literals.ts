/** A BLOB as SQL writes it; the group has its digits. */
export const BLOB = /^x'((?:[\da-f]{2})*)'$/i

/** A number as SQL and JSON write it: no zeros before it, no sign but minus. */
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Whether text must stand in quotes, because without them it is something else. */
export function looksLikeValue(text: string): boolean {
  return NUMBER.test(text) || BLOB.test(text)
}
