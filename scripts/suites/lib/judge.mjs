/**
 * Says what is wrong with a suite's results, one text for each thing.
 *
 * @param {{ runs: Array<{ driver: string, passing: number, failures: Array<{ title: string, message: string }> }>,
 *   explained: Record<string, string>, expected: { own: number, ours: number, both?: number } }} result The first run is that of
 *   the builder's own driver. `explained`: for the whole title of a test, why it fails on resqlite. `expected`: how many tests pass
 *   on each at least, and how many fail on both, none by default
 */
export function judge({ runs: [own, ours], explained, expected }) {
  const theirs = new Map(own.failures.map((failure) => [failure.title, failure]))
  const onBoth = ours.failures.filter(({ title }) => theirs.has(title))
  const unexplained = ours.failures.filter(({ title }) => !theirs.has(title) && !(title in explained))
  const otherwise = onBoth.filter(
    ({ title, message }) =>
      firstLine(message) !== firstLine(theirs.get(title).message) && !(title in explained),
  )
  const passed = Object.keys(explained).filter(
    (title) => !ours.failures.some((failure) => failure.title === title),
  )
  const { both = 0 } = expected
  return [
    ...tooFew(own, expected.own),
    ...tooFew(ours, expected.ours),
    ...(onBoth.length === both ? [] : [`${onBoth.length} tests fail on both, and not ${both}`]),
    ...unexplained.map(({ title, message }) => `${title}\n    not explained: ${firstLine(message)}`),
    ...otherwise.map(
      ({ title, message }) => `${title}\n    fails on both, but here by: ${firstLine(message)}`,
    ),
    ...passed.map((title) => `${title}\n    is explained, and does not fail`),
  ]
}

function tooFew({ driver, passing }, least) {
  return passing >= least && passing > 0
    ? []
    : [`${passing} tests pass on ${driver}, and not ${least} or more`]
}

function firstLine(message) {
  return message.split('\n', 1)[0]
}
