/** Returns a text that is the same for equal sources of this page or process; undefined if the source cannot tell. */
export function keyOf(source: object): string | undefined {
  const parts = (source as { [equality]?: readonly unknown[] })[equality]
  return parts && JSON.stringify(parts, (_, value) => (isPlain(value) ? value : { '#': numberOf(value) }))
}

/** The name under which live queries and remote queries say what makes them equal. */
const equality = Symbol.for('resqlite.equality')

const numbers = new WeakMap<object, number>()
let last = 0

/** Functions, databases and signals are equal only to themselves. */
function numberOf(object: object): number {
  const number = numbers.get(object) ?? ++last
  numbers.set(object, number)
  return number
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'function') return false
  return (
    !(value instanceof Object) || [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value))
  )
}
