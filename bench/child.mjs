import { spawn } from 'node:child_process'

/** Where stacks say that files are: stored runs name them from here on. */
const root = new URL('..', import.meta.url).href

/** Runs a script in a process of its own. Resolves with what it printed as JSON. `timeout`: milliseconds. */
export function runChild(script, args, { execArgv, timeout }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...execArgv, script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout,
      killSignal: 'SIGKILL',
    })
    let output = ''
    let errors = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      errors += chunk
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(JSON.parse(output))
      const lines = errors.replaceAll(root, '').trim().split('\n').slice(-8)
      reject(new Error([`ended with ${signal ?? code}`, ...lines].join('\n')))
    })
  })
}
