// The options of `npm run bench`, for the command line and for its help. Nothing is imported, so that the help needs no packages.

/** Name → the type for `parseArgs`, and the help. */
export const options = {
  quick: { type: 'boolean', default: false, help: 'fewer and shorter rounds: minutes, indications only' },
  only: {
    type: 'string',
    multiple: true,
    help: 'ids, beginnings of ids or groups of workloads, with commas',
  },
  'include-slow': { type: 'boolean', default: false, help: 'the slow workloads, too' },
  peers: { type: 'string', help: 'the libraries, with commas' },
  rounds: { type: 'string', help: 'the number of rounds (15, or 5 with --quick)' },
  label: { type: 'string', help: 'stores the run in bench/results under this name' },
  json: { type: 'string', help: 'stores the run in this file' },
  into: { type: 'string', help: 'the stored run in which the chosen workloads are replaced' },
  list: { type: 'boolean', default: false, help: 'prints the workloads' },
  compare: {
    type: 'boolean',
    default: false,
    help: 'compares two stored runs: --compare before.json after.json',
  },
  peer: { type: 'string', help: 'the library that --compare looks at (resqlite)' },
  'fail-on-regression': {
    type: 'boolean',
    default: false,
    help: '--compare exits with 1 after a regression',
  },
  report: { type: 'boolean', default: false, help: 'draws the stored runs as one HTML page' },
  out: { type: 'string', help: 'the file of that page (bench/data/report.html)' },
}

/** The help, a line for each option. */
export function usage() {
  const width = Math.max(...Object.keys(options).map((name) => name.length))
  const lines = Object.entries(options).map(([name, { help }]) => `  --${name.padEnd(width)}  ${help}`)
  return [
    'npm run bench -- [options]',
    '',
    ...lines,
    '',
    'bench/README.md explains workloads and figures.',
  ].join('\n')
}
