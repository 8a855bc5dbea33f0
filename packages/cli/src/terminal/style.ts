import { WriteStream } from 'node:tty'
import type { Output } from '../core/context.js'

/** The look of a part of a line. `new` and `changed` are lit for a moment. */
export type Look = 'plain' | 'bold' | 'dim' | 'new' | 'changed' | 'bad'

/** Select Graphic Rendition: the codes that begin and end each look. */
const CODES: Record<Exclude<Look, 'plain'>, readonly [begin: string, end: string]> = {
  bold: ['1', '22'],
  dim: ['2', '22'],
  new: ['30;42', '39;49'],
  changed: ['30;43', '39;49'],
  bad: ['31', '39'],
}

/** A function that gives text a look. */
export type Paint = (text: string, look: Look) => string

/** Returns a function that paints for a stream, or leaves text as it is if colours are not wanted. */
export function painter(stream: Output, env: NodeJS.ProcessEnv = process.env): Paint {
  return wantsColours(stream, env) ? paint : (text) => text
}

function paint(text: string, look: Look): string {
  if (look === 'plain' || text === '') return text
  const [begin, end] = CODES[look]
  return `\x1b[${begin}m${text}\x1b[${end}m`
}

/** Returns whether colours are wanted. NO_COLOR takes precedence over FORCE_COLOR, and an empty variable counts as missing. */
function wantsColours(stream: Output, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return !['0', 'false'].includes(env.FORCE_COLOR)
  return (
    stream.isTTY === true && WriteStream.prototype.hasColors.call(stream, 16, { ...env, NO_COLOR: undefined })
  )
}
