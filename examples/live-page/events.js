import { pipeline } from 'node:stream/promises'

/**
 * Sends what a live query finds as server-sent events: first all rows, then what changes, until the client leaves.
 * While a client is slower than the changes, they are gathered into one patch, so that nothing piles up here.
 */
export async function sendChanges(live, response) {
  const patches = live.changes({ key: 'id' })
  response.once('close', () => patches.return())
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  await pipeline(events(patches), response)
}

/** One event per patch, without the whole result. */
async function* events(patches) {
  for await (const { rows, ...patch } of patches) yield `data: ${JSON.stringify(patch)}\n\n`
}
