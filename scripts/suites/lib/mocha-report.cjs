// A reporter of mocha that writes what mocha.mjs reads. That of mocha cannot write an error about a bigint.

const { writeFileSync } = require('node:fs')

module.exports = class {
  constructor(runner, { reporterOptions }) {
    const failed = new Set()
    const report = { passing: 0, pending: 0, failures: [] }
    runner.on('pass', () => report.passing++)
    runner.on('pending', () => report.pending++)
    runner.on('fail', (test, error) => {
      // A test that goes on after its failure may fail again.
      if (failed.has(test)) return
      failed.add(test)
      report.failures.push({ title: test.fullTitle(), message: String(error?.message ?? '') })
    })
    runner.on('end', () => writeFileSync(reporterOptions.file, JSON.stringify(report)))
  }
}
