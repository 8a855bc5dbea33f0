// A reporter of mocha that writes what mocha.mjs reads. That of mocha cannot write an error about a bigint.

const { writeFileSync } = require('node:fs')

module.exports = class {
  constructor(runner, { reporterOptions }) {
    const report = { passing: 0, pending: 0, failures: [] }
    runner.on('pass', () => report.passing++)
    runner.on('pending', () => report.pending++)
    runner.on('fail', (test, error) => {
      report.failures.push({ title: test.fullTitle(), message: String(error?.message ?? '') })
    })
    runner.on('end', () => writeFileSync(reporterOptions.file, JSON.stringify(report)))
  }
}
