/** Counts the results in a report of jest. Those of vitest have the same form. */
export function counts({ testResults }) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests.filter(({ status }) => status === 'failed')
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  )
  return {
    passing: tests.filter(({ status }) => status === 'passed').length,
    pending: tests.filter(({ status }) => !['passed', 'failed'].includes(status)).length,
    failures: [
      ...failed.map(({ fullName, failureMessages }) => ({
        title: fullName,
        message: failureMessages.join('\n'),
      })),
      ...broken.map(({ name, message }) => ({ title: name, message })),
    ],
  }
}
