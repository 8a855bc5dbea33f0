import { random } from '../random.mjs'
import { oneByOne } from './calls.mjs'
import { expectSame } from './expect.mjs'
import { makeFile, numbered } from './file.mjs'

const posts = 100_000
const pages = 20
const pageRows = 50
const seedOfPosts = 0xfeed
const epoch = Date.UTC(2026, 0, 1)

const schema = `CREATE TABLE posts (
  id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL, created_at INTEGER NOT NULL, body TEXT NOT NULL, like_count INTEGER NOT NULL)`
const index = 'CREATE INDEX posts_by_time ON posts (created_at DESC, id)'

function seededPosts() {
  const next = random(seedOfPosts)
  return numbered(posts, (id) => [
    id,
    next(1000) + 1,
    epoch + next(10 ** 9),
    `Post ${id}: a few lines about something that happened today, or that somebody thinks did.`,
    next(500),
  ])
}

/** The twenty newest pages as lists of ids. */
function expectedPages() {
  const newest = seededPosts().sort(([idA, , timeA], [idB, , timeB]) => timeB - timeA || idB - idA)
  return numbered(pages, (page) => newest.slice((page - 1) * pageRows, page * pageRows).map(([id]) => id))
}
let expected

/** From the newest post twenty pages down, and again; each page starts behind the last row of the one before. */
export const feed = {
  id: 'a6-feed',
  version: 'v1',
  group: 'scenarios',
  title: 'paging through a feed of 100,000: a page of 50 by key, 20 in a row',
  shapes: ['feed'],
  rate: true,
  seed: (file) => makeFile(file, schema, { posts: seededPosts() }, index),
  async prepare(session) {
    expected ??= expectedPages()
    const page = await session.prepare(
      `SELECT * FROM posts WHERE (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ${pageRows}`,
    )
    const top = [Number.MAX_SAFE_INTEGER, 0]
    let at = 0
    let after = top
    const check = (rows) => {
      const ids = expected[at]
      expectSame('rows of the page', rows.length, pageRows)
      expectSame('first of the page', rows[0].id, ids[0])
      const last = rows[pageRows - 1]
      expectSame('last of the page', last.id, ids[pageRows - 1])
      at = (at + 1) % pages
      after = at === 0 ? top : [last.created_at, last.id]
    }
    const ids = (await page.all(top)).map(({ id }) => id)
    expectSame('first page', String(ids), String(expected[0]))
    return { run: oneByOne(session, () => page.all(after), check) }
  },
}
