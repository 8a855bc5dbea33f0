import { spawn } from 'node:child_process'

/** Resident memory while walking through five million rows, each peer in a process of its own. */
export const iterate = {
  id: 'iterate-5m',
  title: 'iterate over {rows} × 6, resident memory',
  shapes: ['items'],
  rows: 5_000_000,
  quickRows: 1_000_000,
  ownProcess: true,
  /** Resolves with undefined when the peer cannot iterate. */
  measure: (peer, file, shape, rows) => child([peer, file, shape, String(rows)]),
}

// A young generation that V8 may not enlarge: otherwise its steps (tens of MiB) look like a leak of the library.
const flags = ['--expose-gc', '--max-semi-space-size=2']

function child(args) {
  const script = new URL('./iterate-child.mjs', import.meta.url).pathname
  return new Promise((resolve, reject) => {
    const process_ = spawn(process.execPath, [...flags, script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let errors = ''
    process_.stdout.on('data', (chunk) => {
      output += chunk
    })
    process_.stderr.on('data', (chunk) => {
      errors += chunk
    })
    process_.on('error', reject)
    process_.on('close', (code) => {
      if (code !== 0)
        return reject(new Error(errors.trim().split('\n').slice(-8).join('\n') || `exit ${code}`))
      resolve(JSON.parse(output) ?? undefined)
    })
  })
}
