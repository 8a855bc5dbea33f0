import { pipeline } from 'node:stream/promises'
import type { Output } from '../core/context.js'
import { visibleLines } from './visible.js'

/** Writes pieces of text, each when the stream has taken the one before. The stream stays open. */
export async function write(
  output: Output,
  pieces: AsyncIterable<string> | Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  await pipeline(pieces, output, { end: false, signal })
}

/** Writes a line for people: whatever it contains, no control character of it reaches the terminal. */
export function say(output: Output, text: string): void {
  output.write(`${visibleLines(text)}\n`)
}

/** Resolves when the stream has taken, or refused, what was written. */
export function flushed(output: Output): Promise<void> {
  return new Promise((resolve) => output.write('', () => setImmediate(resolve)))
}

/** The size of a terminal. One that has lost its window, or never had one, has a size of 0. */
export function sizeOf({ columns, rows }: Output): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 }
}
