import { setTimeout as sleep } from 'node:timers/promises'

export const offered = 200 // commits per second

/** Commits at this rate to `items`, a row in turn each. The last one writes `mark`. */
export async function offer(db, commits, rows, mark) {
  const start = performance.now()
  const done = []
  for (let i = 1; i <= commits; i++) {
    const wait = start + (i * 1000) / offered - performance.now()
    if (wait > 0) await sleep(wait)
    done.push(
      i < commits
        ? db.execute('UPDATE items SET value = value + 1 WHERE id = ?', [1 + (i % rows)])
        : db.execute('UPDATE items SET mark = ? WHERE id = 1', [mark]),
    )
  }
  await Promise.all(done)
}
