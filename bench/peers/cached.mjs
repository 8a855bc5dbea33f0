/** Remembers what `make(key)` returned. */
export function cached(make) {
  const made = new Map()
  return (key) => {
    let value = made.get(key)
    if (value === undefined) {
      value = make(key)
      made.set(key, value)
    }
    return value
  }
}
