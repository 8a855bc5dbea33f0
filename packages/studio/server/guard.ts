import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpError } from './http-error.js'

/** The names by which a machine calls itself. */
export const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'] as const

/**
 * Refuses a request that does not come from a page of the studio.
 *
 * A site that lets its own name lead to this machine (DNS rebinding) is told apart by `Host`, a page of another site by
 * `Origin` and `Sec-Fetch-Site`.
 */
export function checkSource(request: IncomingMessage, hosts: readonly string[]): void {
  const { host, origin, 'sec-fetch-site': site } = request.headers
  if (host === undefined || !hosts.includes(hostName(host))) {
    throw new HttpError(421, 'the studio does not answer under this host name')
  }
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    throw new HttpError(403, 'the studio does not answer pages of other origins')
  }
  const isNavigation = request.headers['sec-fetch-mode'] === 'navigate'
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation) {
    throw new HttpError(403, 'the studio does not answer pages of other sites')
  }
}

/** Refuses a request for data without the token. A header, since a page of another site can send cookies, but not this. */
export function checkToken(request: IncomingMessage, token: string | false): void {
  if (token === false) return
  const [, given = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
  // Digests have one length, so how long the comparison takes tells nothing.
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new HttpError(401, 'the token is missing or wrong')
}

function hostName(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase()
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
