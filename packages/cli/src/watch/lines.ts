import { once } from 'node:events'
import type { LiveQuery, Row, RowArray } from 'resqlite'
import type { Context } from '../core/context.js'
import { UsageError } from '../core/errors.js'
import { safeJson } from '../core/values.js'
import { formatted } from '../formats/rows.js'
import { write } from '../terminal/output.js'

/**
 * Writes one patch per line as JSON. The first patch has all rows as added. A slow reader gets the changes of several commits as
 * one patch.
 */
export async function writePatches(
  live: LiveQuery<Row[]>,
  names: readonly string[],
  places: readonly number[] | undefined,
  { stdout, signal }: Context,
): Promise<void> {
  const twice = names.find((name, place) => names.indexOf(name) < place)
  if (twice !== undefined)
    throw new UsageError(`--json: two columns are named ${JSON.stringify(twice)}; name one of them with AS`)
  // Without a key, a changed row is reported as one removed row and one added row.
  const key = places?.map((place) => names[place] as string) ?? [...names]
  try {
    await eachOf(live.patchesBytes({ key }), signal, async ({ bytes }) => {
      const line = safeJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
      if (!stdout.write(`${line}\n`)) await once(stdout, 'drain', { signal })
    })
  } catch (error) {
    if ((error as { code?: string }).code !== 'RESQLITE_KEY') throw error
    const isAll = names.every((name) => key.includes(name))
    const advice = isAll
      ? 'two rows are equal: select a column that tells them apart'
      : 'name columns that tell rows apart with --key'
    throw new Error(`${(error as Error).message}; ${advice}`)
  }
}

/** Writes each result as a new table, for outputs that cannot be drawn over. */
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

/**
 * Calls `body` with each value until the signal fires. The signal ends this without an error, even before the first value or while
 * a write waits.
 */
async function eachOf<T>(
  values: AsyncIterableIterator<T, undefined>,
  signal: AbortSignal,
  body: (value: T) => Promise<void>,
): Promise<void> {
  const end = () => void values.return?.()
  // A signal that has already fired sends no further event.
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    for await (const value of values) await body(value)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
