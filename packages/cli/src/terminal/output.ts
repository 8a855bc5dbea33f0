import { pipeline } from 'node:stream/promises'
import type { Output } from '../core/context.js'
import { visibleLines } from './visible.js'

/** Writes pieces of text, each after the stream has accepted the piece before. The stream stays open. */
export async function write(
  output: Output,
  pieces: AsyncIterable<string> | Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  await pipeline(pieces, output, { end: false, signal })
}

/** Writes a line for people. Whatever the text contains, none of its control characters reaches the terminal. */
export function say(output: Output, text: string): void {
  output.write(`${visibleLines(text)}\n`)
}

/** Resolves when the stream has accepted, or refused, what was written. */
export function flushed(output: Output): Promise<void> {
  return new Promise((resolve) => output.write('', () => setImmediate(resolve)))
}

/** Returns the size of a terminal. A terminal without a window reports a size of 0, and the default size is returned. */
export function sizeOf({ columns, rows }: Output): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 }
}
