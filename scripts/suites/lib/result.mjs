/**
 * Prints what a suite found, and returns the number of failing tests on resqlite that are not explained.
 *
 * @param {{ title: string, runs: Array<{ driver: string, passing: number, pending: number,
 *   failures: Array<{ title: string, message: string }> }>, explained: Record<string, string> }} result The first run is that
 *   of the builder's own driver. `explained`: for a part of a test's title, why it fails on resqlite
 */
export function printResult({ title, runs: [own, ours], explained }) {
  console.log(`\n${title.padEnd(44)}  passing  pending  failing`)
  for (const { driver, passing, pending, failures } of [own, ours]) {
    const counts = [passing, pending, failures.length].map((count) => String(count).padStart(9))
    console.log(`  ${driver.padEnd(42)}${counts.join('')}`)
  }
  const failingBoth = new Set(own.failures.map(({ title }) => title))
  const only = ours.failures.filter(({ title }) => !failingBoth.has(title))
  if (failingBoth.size > 0) console.log(`\n  ${failingBoth.size} fail with ${own.driver}`)
  const unexplained = only.filter((failure) => {
    const [, why] = Object.entries(explained).find(([part]) => failure.title.includes(part)) ?? []
    console.log(`\n  ${failure.title}\n    ${why ?? `not explained: ${firstLine(failure.message)}`}`)
    return why === undefined
  })
  return unexplained.length
}

function firstLine(message) {
  return message.split('\n', 1)[0]
}
