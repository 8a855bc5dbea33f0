/** Returns a function that makes numbers from 0 up to a bound, the same for the same seed. */
export function randomNumbers(seed) {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}
