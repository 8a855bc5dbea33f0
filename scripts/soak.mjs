// node scripts/soak.mjs <suite> [throws] [first seed]: runs random tests of the engine for long, optimised. Prints what they
// came to, or the first promise that was broken and how to see it again.

import { CommandFailed, cargo, runAsProgram } from './lib/process.mjs'

/** The tests of each suite, and how many throws are a night's work. */
const suites = {
  live: { crate: 'resqlite', test: 'live', throws: 300_000, only: ['random::'], counts: 'commits' },
  entries: { crate: 'resqlite', test: 'live', throws: 100_000, only: ['entries::copies'], counts: 'entries' },
  faults: { crate: 'resqlite', test: 'faults', throws: 0, counts: 'faults for each scenario, 0 for all' },
  power: { crate: 'resqlite', test: 'power_loss', throws: 100_000, counts: 'power cuts for each promise' },
  corrupt: { crate: 'resqlite', test: 'corrupt', throws: 50_000, counts: 'damaged files' },
  deep: { crate: 'resqlite', test: 'engine', throws: 20_000, only: ['deep::'], counts: 'statements' },
  order: {
    crate: 'resqlite',
    test: 'simulation',
    features: ['--features', 'simulation'],
    throws: 100_000,
    counts: 'orders of threads for each promise',
  },
  sound: { crate: 'resqlite', throws: 100_000, only: ['sound::'], counts: 'queries' },
  cluster: { crate: 'resqlite-cluster', throws: 300_000, only: ['simulation::'], counts: 'runs' },
}

await runAsProgram(import.meta.url, ([name, throws, seed]) => {
  const suite = suites[name]
  if (!suite) throw new CommandFailed(`usage: node scripts/soak.mjs suite [throws] [first seed]\n${known()}`)
  const target = [...(suite.features ?? []), ...(suite.test ? ['--test', suite.test] : ['--lib'])]
  const tests = ['--', '--nocapture', ...(suite.only ?? [])]
  cargo(['test', '--release', '--locked', '--package', suite.crate, ...target, ...tests], {
    env: {
      RESQLITE_DICE: 'all',
      RESQLITE_THROWS: throws ?? String(suite.throws),
      ...(seed ? { RESQLITE_SEED: seed } : {}),
      RUST_BACKTRACE: '0',
      CARGO_PROFILE_RELEASE_LTO: 'off',
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
    },
  })
})

function known() {
  return Object.entries(suites)
    .map(([name, { throws, counts }]) => `  ${name.padEnd(8)} ${throws} ${counts}`)
    .join('\n')
}
