import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'

/** Everything that a browser loads of the studio, by its path. There is no way to another file. */
const FILES: ReadonlyMap<string, readonly [file: string, type: string]> = new Map([
  ['/', ['index.html', 'text/html; charset=utf-8']],
  ['/app.js', ['app.js', 'text/javascript; charset=utf-8']],
  ['/app.css', ['app.css', 'text/css; charset=utf-8']],
  ['/icon.svg', ['icon.svg', 'image/svg+xml']],
  ['/licenses.txt', ['licenses.txt', 'text/plain; charset=utf-8']],
])

/** Nothing but the files above, no script or style in the page itself, and no other address. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Headers of every answer. */
export const SAFE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const

const loaded = new Map<string, Buffer>()

/** Sends an asset, and returns whether there is one at this path. */
export function sendAsset(path: string, response: ServerResponse): boolean {
  const [file, type] = FILES.get(path) ?? []
  if (file === undefined) return false
  const body = loaded.get(file) ?? readFileSync(new URL(`../page/${file}`, import.meta.url))
  loaded.set(file, body)
  response.writeHead(200, {
    'content-type': type,
    'content-length': body.length,
    'cache-control': 'no-cache',
  })
  response.end(body)
  return true
}
