import { once } from 'node:events'
import { readSync, writeSync } from 'node:fs'
import { parentPort, Worker } from 'node:worker_threads'
import * as resqlite from 'resqlite'

/** A value that can be passed to a script. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * The body of a script for another process or thread. It is passed as text, so it sees its arguments and nothing else of
 * the file that contains it.
 */
export type Script<A extends readonly Json[]> = (tools: Tools, ...args: A) => unknown

/** The tools of a script in another process. */
export interface Tools {
  Database: typeof resqlite.Database
  /** Sends a line to the parent. It has been written when this returns. */
  say(line: string | number): void
  /** Blocks this thread until the parent has sent a line. */
  hear(): string
  /** A promise of the next turn of the event loop. */
  turn(): Promise<void>
  /** A promise that never settles. */
  never(): Promise<never>
  /** Starts a thread that runs a script. */
  thread<A extends readonly Json[]>(script: Script<A>, ...args: A): Worker
  /** Sends a value from a thread to the one that started it. */
  post(value: Json): void
  /** Returns the next value that a thread posts. */
  posted(worker: Worker): Promise<Json>
  /** A query that yields the numbers from 1 to `rows`. */
  count(rows: number): string
  /** A query that runs until it is interrupted. */
  endless: string
}

/** The text that runs a script in a new realm. */
export function scriptText<A extends readonly Json[]>(script: Script<A>, args: A): string {
  const values = args.map((value) => JSON.stringify(value))
  return `(${script})(${[`require(${JSON.stringify(__filename)}).tools`, ...values].join(', ')})`
}

export const tools: Tools = {
  Database: resqlite.Database,
  say(line) {
    write(Buffer.from(`${line}\n`))
  },
  hear() {
    const byte = Buffer.alloc(1)
    let line = ''
    while (readSync(0, byte) === 1 && byte[0] !== 10) line += byte.toString('latin1')
    return line
  },
  turn: () => new Promise((resolve) => setImmediate(resolve)),
  never: () => new Promise(() => {}),
  thread: (script, ...args) => new Worker(scriptText(script, args), { eval: true }),
  post: (value) => parentPort?.postMessage(value),
  posted: async (worker) => (await once(worker, 'message'))[0],
  count: (rows) =>
    `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ${rows}) SELECT x FROM c`,
  endless: 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c',
}

function write(bytes: Uint8Array): void {
  let at = 0
  while (at < bytes.length) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      // The parent is slow to read.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}
