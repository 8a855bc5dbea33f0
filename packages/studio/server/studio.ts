import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Database } from 'resqlite'
import { SAFE_HEADERS, sendAsset } from './assets.js'
import { checkSource, checkToken, LOOPBACK } from './guard.js'
import { HttpError } from './http-error.js'
import { TIMES, type Times } from './limits.js'
import { checkOptions } from './options.js'
import { asOwnCall } from './own-calls.js'
import { routeOf, type StudioContext } from './routes.js'
import { Watch } from './watch.js'
import { sendError } from './wire.js'

/** Options of {@link createStudio}. */
export interface StudioOptions {
  /** True if pages may change data: edits, and statements that write. Default: `false`. */
  write?: boolean | undefined
  /**
   * The token that the address of a page must have after its `#`: at least 16 letters, digits, `-` or `_`. `false`: none, because who
   * asks is checked before the studio is called. Default: a random one, see {@link Studio.token}.
   */
  token?: string | false | undefined
  /** Under which path it answers, for example `'/studio'`. Default: `''`, every path. */
  path?: string | undefined
  /** The host names under which it answers. Default: `localhost`, `127.0.0.1` and `[::1]`. */
  hosts?: readonly string[] | undefined
}

/** A studio, as a function that answers requests. */
export interface Studio {
  /** Answers a request. Returns `false`, and does nothing, if it is not under the studio's path. */
  (request: IncomingMessage, response: ServerResponse): boolean
  /** The token of pages: open the address of the studio with `#` and the token after it. */
  readonly token: string | false
  /** Stops looking. The database stays open; its closing, too, ends what pages watch. */
  close(): Promise<void>
}

/**
 * Makes a studio for a database, to be mounted on a server of one's own: it shows the live queries of this thread, and the
 * writer and the readers of the process.
 *
 * ```ts
 * const studio = createStudio(db, { path: '/studio' })
 * createServer((request, response) => {
 *   if (!studio(request, response)) answer(request, response)
 * }).listen(3000, '127.0.0.1')
 * console.log(`http://127.0.0.1:3000/studio/#${studio.token}`)
 * ```
 */
export function createStudio(db: Database, options: StudioOptions = {}): Studio {
  return makeStudio(db, options, TIMES)
}

/** The same, with other limits of time. */
export function makeStudio(db: Database, options: StudioOptions, times: Times): Studio {
  const {
    write = false,
    token = randomBytes(24).toString('base64url'),
    path = '',
    hosts = LOOPBACK,
  } = options
  checkOptions('createStudio', options, ['write', 'token', 'path', 'hosts'])
  check(db, write, path, token, hosts)
  const mayWrite = write && !db.readOnly
  const watch = new Watch(db, mayWrite)
  const context = { db, write: mayWrite, watch, times }
  const access = { token, hosts: hosts.map((host) => host.toLowerCase()) }
  const studio = (request: IncomingMessage, response: ServerResponse) => {
    const below = pathBelow(path, request.url ?? '/')
    if (below === undefined) return false
    asOwnCall(() => answer(context, access, below, request, response)).catch((error) =>
      sendError(response, error),
    )
    return true
  }
  return Object.assign(studio, { token, close: () => watch.close() })
}

/** Who is answered. */
interface Access {
  readonly token: string | false
  readonly hosts: readonly string[]
}

async function answer(
  context: StudioContext,
  access: Access,
  below: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value)
  checkSource(request, access.hosts)
  const url = new URL(`http://studio${below}`)
  const outside = pathOf((request as { originalUrl?: string }).originalUrl ?? request.url ?? '/')
  if (request.method === 'GET' && url.pathname === '/' && !outside.endsWith('/')) {
    return moveToFolder(outside, response)
  }
  if (request.method === 'GET' && sendAsset(url.pathname, response)) return
  checkToken(request, access.token)
  const route = routeOf(request.method, url.pathname)
  if (route === undefined) throw new HttpError(404, 'there is nothing here')
  await route(context, request, response, url)
}

/** The page names its files relative to a folder, so the path that the browser sees must end with a slash. */
function moveToFolder(path: string, response: ServerResponse): void {
  response.writeHead(308, { location: `./${path.split('/').at(-1)}/` }).end()
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] as string
}

/** The rest of a request's path behind that of the studio; undefined if it is not below it. */
function pathBelow(path: string, url: string): string | undefined {
  if (!url.startsWith(path)) return undefined
  const rest = url.slice(path.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : undefined
}

function check(db: unknown, write: unknown, path: unknown, token: unknown, hosts: unknown): void {
  if (typeof db !== 'object' || db === null) {
    throw new TypeError('createStudio: the first argument must be a Database; openStudio takes a file')
  }
  if (typeof write !== 'boolean') throw new TypeError("createStudio: 'write' must be true or false")
  if (typeof path !== 'string' || (path !== '' && !/^\/.*[^/]$/.test(path))) {
    throw new TypeError("createStudio: 'path' must begin with a slash and end without one")
  }
  // The page knows a token behind the `#` of its address by this form.
  if (token !== false && (typeof token !== 'string' || !/^[\w-]{16,}$/.test(token))) {
    throw new TypeError("createStudio: 'token' must have at least 16 letters, digits, - or _, or be false")
  }
  if (!Array.isArray(hosts) || !hosts.every((host) => typeof host === 'string')) {
    throw new TypeError("createStudio: 'hosts' must be an array of host names")
  }
}
