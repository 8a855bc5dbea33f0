import { checkPath, refused, show } from './checks'
import type { OpenOptions } from './types'

/** The database that is opened: a path in the form that the engine accepts, and the options that a URL contained. */
export interface Location {
  readonly path: string
  /** The content of a database in memory. */
  readonly bytes?: Uint8Array
  readonly options: Pick<OpenOptions, 'readOnly' | 'fileMustExist' | 'immutable'>
}

type Method = 'open' | 'backup'

const MEMORY = ':memory:'

/** The options that each `mode` of a `file:` URL stands for. */
const MODES: Readonly<Record<string, Location['options']>> = {
  ro: { readOnly: true },
  rw: { readOnly: false, fileMustExist: true },
  rwc: { readOnly: false, fileMustExist: false },
  memory: { fileMustExist: false },
}

/** The options that each `immutable` of a `file:` URL stands for. */
const IMMUTABLE: Readonly<Record<string, Location['options']>> = {
  0: { immutable: false },
  1: { readOnly: true, immutable: true },
}

/** The parameters of a `file:` URL, and their values. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  mode: Object.keys(MODES),
  immutable: Object.keys(IMMUTABLE),
}

/** Returns the location that the first argument of `open` names. The options are checked already. */
export function locate(where: unknown, options: OpenOptions = {}): Location {
  if (where instanceof Uint8Array) return { path: MEMORY, bytes: where, options: {} }
  const location = parse('open', where)
  for (const name of ['readOnly', 'fileMustExist', 'immutable'] as const) {
    const [said, given] = [location.options[name], options[name]]
    if (said !== undefined && given !== undefined && said !== given) {
      throw refused(`open: the URL ${show(String(where))} contradicts the option ${name}: ${given}`)
    }
  }
  return location
}

/** Returns the path of a file that is to be made: a path or a `file:` URL without parameters. */
export function targetPath(method: Method, where: unknown): string {
  const { path, options } = parse(method, where)
  if (path === MEMORY || Object.keys(options).length > 0) {
    throw refused(`${method}: ${show(String(where))} names no file to write to`)
  }
  return path
}

function parse(method: Method, where: unknown): Location {
  if (where instanceof URL) return parseUrl(method, where.href)
  checkPath(method, where)
  return /^file:/i.test(where) ? parseUrl(method, where) : { path: where, options: {} }
}

/** Parses a URL as SQLite does: `file:app.db` is relative, `file:/app.db` and `file:///app.db` are absolute. */
function parseUrl(method: Method, url: string): Location {
  // The parameters are not shown, because people who know other drivers write keys there.
  const shown = show(url.replace(/\?.*$/s, ''))
  const fail = (why: string) => refused(`${method}: the URL ${shown} ${why}`)
  if (!/^file:/i.test(url)) throw fail('must begin with file:')
  if (url.includes('#')) throw fail("must not have a fragment; a '#' in a name is written %23")
  const [, host, encoded = '', query = ''] = /^file:(?:\/\/([^/?]*))?([^?]*)\??(.*)$/is.exec(url) ?? []
  if (host !== undefined && host !== '' && host !== 'localhost') {
    throw fail(`names the host ${show(host)}; a path is written file:name or file:///folder/name`)
  }
  const said = parseQuery(query, fail)
  const mode = said.get('mode')
  const path = decode(encoded, fail)
  const options = { ...IMMUTABLE[said.get('immutable') ?? ''], ...MODES[mode ?? ''] }
  if (mode === 'memory') return { path: MEMORY, options }
  checkPath(method, path)
  return { path, options }
}

/** Returns the parameters of a URL. Each may occur only once. */
function parseQuery(query: string, fail: (why: string) => Error): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    const known = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
    if (known === undefined) throw fail(`has the parameter ${show(name)}; only mode and immutable are known`)
    if (!known.includes(value)) throw fail(`has the ${name} ${show(value)}; it can be ${known.join(', ')}`)
    if (found.has(name)) throw fail(`has more than one ${name}`)
    found.set(name, value)
  }
  return found
}

function decode(path: string, fail: (why: string) => Error): string {
  // On Windows, the slash before the letter of a drive belongs to the URL.
  const local = process.platform === 'win32' ? path.replace(/^\/(?=[A-Za-z]:)/, '') : path
  try {
    const decoded = decodeURIComponent(local)
    return process.platform === 'win32' ? decoded.replaceAll('/', '\\') : decoded
  } catch {
    throw fail("must have two hexadecimal digits after each '%'; a '%' itself is written %25")
  }
}
