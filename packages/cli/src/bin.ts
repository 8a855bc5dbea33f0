#!/usr/bin/env node
import { Exit } from './core/errors.js'
import { run } from './run.js'

const ending = new AbortController()
let hungUp = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    hungUp ||= signal === 'SIGHUP'
    // Who asks twice does not want to wait for what is being undone.
    if (ending.signal.aborted && !hungUp) process.exit(Exit.INTERRUPTED)
    ending.abort()
  })
}
const { stdin, stdout, stderr } = process
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    hungUp ||= error.code === 'EIO'
    // An error of stderr is told to nobody, and harms nobody.
    if (stream === stdout) ending.abort(error)
  })
}
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, signal: ending.signal })
stdin.destroy()
if (hungUp) {
  // Node.js aborts with a core dump when it ends and its terminal is gone. The signal ends it without that.
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}
