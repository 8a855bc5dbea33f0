import { PassThrough, Writable } from 'node:stream'
import { run } from '../../dist/run.js'

/** Runs a command line in this process: for tests that run many, and those that choose when the signal fires. */
export async function runHere(args, { signal = new AbortController().signal, ...given } = {}) {
  const result = { stdout: '', stderr: '' }
  const streams = ['stdout', 'stderr'].map((name) => {
    const stream = new PassThrough().setEncoding('utf8')
    return stream.on('data', (text) => {
      result[name] += text
    })
  })
  const [stdout, stderr] = streams
  const stdin = new PassThrough()
  stdin.end()
  const code = await run(args, { stdin, stdout, stderr, signal, ...given })
  return { ...result, code }
}

/** A stderr that is a terminal, and calls a function with each text as it is written. */
export function terminal(wrote) {
  const stream = new Writable({
    decodeStrings: false,
    write(text, _, done) {
      wrote(text)
      done()
    },
  })
  return Object.assign(stream, { isTTY: true, columns: 80 })
}
