// The two ways of making many calls: one after the other, or a fixed number in flight.

/**
 * Makes call(0) … call(ops - 1), each after the one before has been answered, and hands each answer to
 * `check(answer, i)`.
 */
export function oneByOne(session, call, check = ignore) {
  if (session.sync) {
    return (ops) => {
      for (let i = 0; i < ops; i++) check(call(i), i)
    }
  }
  return async (ops) => {
    for (let i = 0; i < ops; i++) check(await call(i), i)
  }
}

/** The same calls with `width` of them waiting at any time. A blocking library can only make them in turn. */
export function inFlight(session, width, call, check = ignore) {
  if (session.sync) return oneByOne(session, call, check)
  return async (ops) => {
    let next = 0
    const lane = async () => {
      while (next < ops) {
        const i = next++
        check(await call(i), i)
      }
    }
    await Promise.all(Array.from({ length: width }, lane))
  }
}

const ignore = () => {}
