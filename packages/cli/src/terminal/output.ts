import { pipeline } from 'node:stream/promises'
import type { Context, Output } from '../core/context.js'
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

/** Resolves when the user wants the command to end. */
export function ended({ signal }: Context): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
