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
  const patches = live.changesBytes({ key })
  signal.addEventListener('abort', () => void patches.return(), { once: true })
  try {
    for await (const { bytes } of patches) {
      const line = safe(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
      if (!stdout.write(`${line}\n`)) await once(stdout, 'drain', { signal })
    }
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
  const results = live.values()
  signal.addEventListener('abort', () => void results.return(), { once: true })
  for await (const rows of results) {
    await write(stdout, formatted('table', names, rows, stdout), signal)
    stdout.write('\n')
  }
}

/** JSON that a terminal may get: nothing in it acts as a control character. */
function safe(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, (token) => jsonString(JSON.parse(token)))
}
