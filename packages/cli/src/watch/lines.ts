import { once } from 'node:events'
import type { LiveQuery, Row, RowArray } from 'resqlite'
import type { Context } from '../core/context.js'
import { UsageError } from '../core/errors.js'
import { jsonString } from '../core/values.js'
import { formatted } from '../formats/rows.js'
import { write } from '../terminal/output.js'

/**
 * Writes one patch per line as JSON: the first has all rows as added. Who reads slowly gets the changes of several commits as
 * one patch.
 */
export async function writePatches(
  live: LiveQuery<Row[]>,
  key: string[],
  { stdout, signal }: Context,
): Promise<void> {
  try {
    await eachOf(live.changesBytes({ key }), signal, async ({ bytes }) => {
      const line = safe(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
      if (!stdout.write(`${line}\n`)) await once(stdout, 'drain', { signal })
    })
  } catch (error) {
    if ((error as { code?: string }).code !== 'RESQLITE_KEY') throw error
    throw new UsageError(`${(error as Error).message}; name the columns of a key with --key`)
  }
}

/** Writes each result as a table, where nothing can be drawn over. */
export async function writeResults(
  live: LiveQuery<RowArray[]>,
  names: readonly string[],
  { stdout, signal }: Context,
): Promise<void> {
  await eachOf(live.values(), signal, async (rows) => {
    await write(stdout, formatted('table', names, rows, stdout), signal)
    stdout.write('\n')
  })
}

/** Does something with each value until the signal fires: that ends it well, also before the first value and in a write that waits. */
async function eachOf<T>(
  values: AsyncIterableIterator<T, undefined>,
  signal: AbortSignal,
  body: (value: T) => Promise<void>,
): Promise<void> {
  const end = () => void values.return?.()
  // A signal that has fired tells nobody again.
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    for await (const value of values) await body(value)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** JSON that a terminal may get: nothing in it acts as a control character. */
function safe(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, (token) => jsonString(JSON.parse(token)))
}
