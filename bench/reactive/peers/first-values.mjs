/**
 * Resolves when each of the listeners has had its first value. `subscribe(listen, fail)` is called once per listener; errors before
 * that reject, later ones are added to `errors`.
 */
export function firstValues(listeners, errors, subscribe) {
  return new Promise((resolve, reject) => {
    let waiting = listeners.length
    const fail = (error) => {
      errors.push(error)
      reject(error)
    }
    for (const onRows of listeners) {
      let first = true
      const listen = (rows) => {
        onRows(rows)
        if (!first) return
        first = false
        if (--waiting === 0) resolve()
      }
      subscribe(listen, fail)
    }
  })
}
