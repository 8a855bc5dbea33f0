// A6: posts, newest first.
import { random } from '../../random.mjs'

export const rows = 100_000
export const quickRows = 10_000
export const shown = 50
export const writes = 100
export const seed = 0xfeed

export const table = {
  name: 'posts',
  columns: {
    id: 'INTEGER',
    author_id: 'INTEGER',
    created_at: 'INTEGER',
    body: 'TEXT',
    like_count: 'INTEGER',
  },
  indexes: [['created_at DESC', 'id']],
}

const epoch = 1_760_000_000 // s

/** Rows 1…count; several may be of the same second. */
export function posts(count) {
  const pick = random(seed)
  return Array.from({ length: count }, (_, i) => [
    i + 1,
    pick(1000),
    epoch + Math.floor((i + pick(3)) / 2),
    `Post ${i + 1} says something of usual length.`,
    pick(100),
  ])
}

export const latest = {
  sql: `SELECT id, author_id, created_at, body, like_count FROM posts ORDER BY created_at DESC, id LIMIT ${shown}`,
  params: [],
  key: 'id',
  tanstack: (q, { posts }) =>
    q
      .from({ post: posts })
      .orderBy(({ post }) => post.created_at, 'desc')
      .orderBy(({ post }) => post.id)
      .limit(shown)
      .select(({ post }) => ({
        id: post.id,
        author_id: post.author_id,
        created_at: post.created_at,
        body: post.body,
        like_count: post.like_count,
      })),
  rows: (model) => {
    // The latest are among those with the greatest keys: `created_at` grows with the key but for a few seconds.
    const candidates = []
    for (let id = model.size; id > model.size - 2 * shown; id--) candidates.push(model.get(id))
    return candidates.sort((a, b) => b.created_at - a.created_at || a.id - b.id).slice(0, shown)
  },
}
