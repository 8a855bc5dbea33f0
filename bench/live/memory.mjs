import { setTimeout as sleep } from 'node:timers/promises'

/** Bytes in use after full collections: resident, V8's heap, and what is resident but not V8's heap. */
export async function memory() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await sleep(5)
  }
  const { rss, heapUsed, heapTotal } = process.memoryUsage()
  return { rss, heap: heapUsed, native: rss - heapTotal }
}
