#!/usr/bin/env node
import type { Context } from './core/context.js'
import { Exit } from './core/errors.js'
import { run } from './run.js'

const ending = new AbortController()
const { stdin, stdout, stderr } = process
const leave = () => process.exit(Exit.INTERRUPTED)
const context: Context = { stdin, stdout, stderr, signal: ending.signal, leave }
let hungUp = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    hungUp ||= signal === 'SIGHUP'
    // A user who asks twice does not want to wait until the work is undone.
    if (ending.signal.aborted && !hungUp) context.leave()
    ending.abort()
  })
}
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    hungUp ||= error.code === 'EIO'
    // An error of stderr cannot be reported, and does no harm.
    if (stream === stdout) ending.abort(error)
  })
}
process.exitCode = await run(process.argv.slice(2), context)
stdin.destroy()
if (hungUp) {
  // Node.js aborts with a core dump if it ends after its terminal is gone. Ending by the signal avoids this.
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}
