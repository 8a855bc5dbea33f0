import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const head = Buffer.from('data: ')
const end = Buffer.from('\n\n')

/**
 * Sends what a live query finds as server-sent events: first all rows, then what changes, until the client leaves.
 * While a client is slower than the changes, they are gathered into one patch, so that nothing piles up here. A patch is
 * encoded once, however many clients get it.
 */
export async function sendChanges(live, response) {
  const events = live.changesBytes({ key: 'id' }).map(({ bytes }) => Buffer.concat([head, bytes, end]))
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  await pipeline(Readable.from(events), response)
}
