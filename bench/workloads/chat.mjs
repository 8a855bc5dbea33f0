// A messenger: mostly looking at the newest messages of conversations, some of which are far more popular than others.
import { random } from '../random.mjs'
import { expectSame, scalar } from './expect.mjs'
import { makeFile, numbered } from './file.mjs'
import { time } from './measures.mjs'
import { steps } from './steps.mjs'
import { perOperation, quantile, timed } from './timed.mjs'

const users = 500
const conversations = 100
const messages = 10_000
const warmUp = 500
const seed = 0x5eed
const epoch = Date.UTC(2026, 0, 1)
const sentAt = (message) => epoch + message * 1000

const schema = `
  CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, avatar TEXT NOT NULL);
  CREATE TABLE conversations (id INTEGER PRIMARY KEY, title TEXT NOT NULL, last_msg_at INTEGER NOT NULL);
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY, conv_id INTEGER NOT NULL, user_id INTEGER NOT NULL, body TEXT NOT NULL, sent_at INTEGER NOT NULL
  );
  CREATE INDEX messages_by_conversation ON messages (conv_id, sent_at);`

const statements = {
  insert: 'INSERT INTO messages (conv_id, user_id, body, sent_at) VALUES (?, ?, ?, ?)',
  update: 'UPDATE conversations SET last_msg_at = ? WHERE id = ?',
  newest: `SELECT m.id, m.body, m.sent_at, u.name FROM messages m JOIN users u ON u.id = m.user_id
    WHERE m.conv_id = ? ORDER BY m.sent_at DESC LIMIT 20`,
  user: 'SELECT * FROM users WHERE id = ?',
}
const methods = { insert: 'run', update: 'run', newest: 'all', user: 'get' }

/** Conversations 1…100, the n-th in popularity drawn with a probability proportional to 1/n (Zipf, s = 1). */
function zipf(next) {
  const sums = []
  for (let n = 1; n <= conversations; n++) sums.push((sums.at(-1) ?? 0) + 1 / n)
  return () => {
    const at = (next(2 ** 31) / 2 ** 31) * sums.at(-1)
    return sums.findIndex((sum) => at < sum) + 1
  }
}

const bodyOf = (message) => `This is what somebody wrote in message ${message} of the conversation.`

function seededMessages() {
  const next = random(seed)
  const conversation = zipf(next)
  return numbered(messages, (id) => [id, conversation(), next(users) + 1, bodyOf(id), sentAt(id)])
}

/** The operations, each with what it must answer: { kind, params, check(answer) }. */
function script(count) {
  const next = random(seed)
  const conversation = zipf(random(seed ^ 0xbadbeef))
  const newest = new Map() // conversation → [newest message, how many]
  const send = (id, to) => newest.set(to, [id, (newest.get(to)?.[1] ?? 0) + 1])
  for (const [id, to] of seededMessages()) send(id, to)
  let last = messages

  const makers = {
    insert() {
      const to = conversation()
      send(++last, to)
      return { params: [to, next(users) + 1, bodyOf(last), sentAt(last)], check: () => {} }
    },
    update: () => ({ params: [sentAt(last), conversation()], check: () => {} }),
    newest() {
      const of = conversation()
      const [first, known] = newest.get(of)
      const length = Math.min(20, known)
      return {
        params: [of],
        check(rows) {
          expectSame('messages shown', rows.length, length)
          expectSame('newest message', rows[0].body, bodyOf(first))
        },
      }
    },
    user() {
      const id = next(users) + 1
      return { params: [id], check: (row) => expectSame('user', row.name, `User ${id}`) }
    },
  }
  return numbered(count, () => {
    const kind = kindOf(next(100))
    return { kind, ...makers[kind]() }
  })
}

/** 5 % inserts, 5 % updates, 45 % newest messages, 45 % users. */
const kindOf = (percent) =>
  percent < 5 ? 'insert' : percent < 10 ? 'update' : percent < 55 ? 'newest' : 'user'

export const chat = {
  id: 'a5-chat',
  version: 'v1',
  group: 'scenarios',
  title: 'messenger: 10,000 operations, 90 % of them queries',
  shapes: ['chat'],
  rate: true,
  measures: {
    insert: time('insert of a message, median'),
    update: time('update of a conversation, median'),
    newest: time('20 newest messages with their senders, median'),
    user: time('user by key, median'),
  },
  seed: (file) =>
    makeFile(file, schema, {
      users: numbered(users, (id) => [id, `User ${id}`, `https://example.org/avatars/${id}.png`]),
      conversations: numbered(conversations, (id) => [id, `Conversation ${id}`, epoch]),
      messages: seededMessages(),
    }),
  async prepare(session, _shape, _owner, { quick }) {
    const operations = script(quick ? 2000 : 10_000)
    const prepared = {}
    for (const [kind, sql] of Object.entries(statements)) {
      const statement = await session.prepare(sql)
      prepared[kind] = statement[methods[kind]]
    }
    const play = steps(session, function* (list, times) {
      for (const { kind, params, check } of list) {
        const start = performance.now()
        const answer = yield prepared[kind](params)
        times[kind].push(performance.now() - start)
        check(answer)
      }
    })
    return { measure: () => measure(session, operations, play) }
  },
}

const noTimes = () => ({ insert: [], update: [], newest: [], user: [] })

async function measure(session, operations, play) {
  await session.exec(`DELETE FROM messages WHERE id > ${messages}`)
  await session.exec(`UPDATE conversations SET last_msg_at = ${epoch}`)
  await session.pragma('wal_checkpoint(TRUNCATE)')
  await play(operations.slice(0, warmUp), noTimes())
  const timedOperations = operations.slice(warmUp)
  const times = noTimes()
  const span = await timed(() => play(timedOperations, times))
  await verify(session, operations)
  const medians = Object.entries(times).map(([kind, list]) => [kind, quantile(list, 0.5)])
  return { ...perOperation(span, timedOperations.length), ...Object.fromEntries(medians) }
}

async function verify(session, operations) {
  const inserts = operations.filter(({ kind }) => kind === 'insert')
  expectSame('messages', await scalar(session, 'SELECT count(*) FROM messages'), messages + inserts.length)
  const latest = new Map(numbered(conversations, (id) => [id, epoch]))
  for (const { kind, params } of operations) if (kind === 'update') latest.set(params[1], params[0])
  const sum = [...latest.values()].reduce((a, b) => a + b)
  expectSame('last_msg_at', await scalar(session, 'SELECT sum(last_msg_at) FROM conversations'), sum)
}
