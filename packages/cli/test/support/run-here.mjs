import { PassThrough, Readable, Writable } from 'node:stream'
import { run } from '../../dist/run.js'

/** Runs a command line in this process, with nothing on stdin unless given: a process of its own takes ten times as long. */
export async function runHere(args, { input = '', signal = new AbortController().signal, ...given } = {}) {
  const result = { stdout: '', stderr: '' }
  const streams = ['stdout', 'stderr'].map((name) => {
    const stream = new PassThrough().setEncoding('utf8')
    return stream.on('data', (text) => {
      result[name] += text
    })
  })
  const [stdout, stderr] = streams
  const stdin = Readable.from(pieces(Buffer.from(input)))
  const code = await run(args, { stdin, stdout, stderr, signal, ...given })
  return { ...result, code }
}

/** Splits bytes as a pipe or a file does. */
function* pieces(bytes) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
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
