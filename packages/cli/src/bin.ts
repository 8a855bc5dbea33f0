#!/usr/bin/env node
import { Exit } from './core/errors.js'
import { run } from './run.js'

const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Who asks twice does not want to wait for what is being undone.
    if (ending.signal.aborted) process.exit(Exit.INTERRUPTED)
    ending.abort()
  })
}
const { stdin, stdout, stderr } = process
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    ending.abort(error)
  })
}
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, signal: ending.signal })
stdin.destroy()
