import { EventEmitter } from 'node:events'
import { sendSSE } from '../peers/resqlite.mjs'
import { quiet } from './counters.mjs'
import { time, times } from './figure.mjs'
import { makeRows } from './latency.mjs'
import { each, inTurns, metered, ratio, turn } from './turns.mjs'

const clients = 1000
const rows = 100
const changed = 20
const sql = 'SELECT * FROM items ORDER BY id'

/** Server-sent events for many clients of one query. What the system takes to send them is not part of it. */
export const events = {
  id: 'live-events',
  version: 'v1',
  title: `update of 1 or ${changed} of ${rows} rows → an event for each of ${clients.toLocaleString('en')} clients`,
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    await makeRows(db, rows)
    const ops = quick ? 20 : 100
    const phases = {
      one: () => run(db, shared, ops, 1),
      oneAlone: () => run(db, alone, ops, 1),
      many: () => run(db, shared, ops, changed),
      manyAlone: () => run(db, alone, ops, changed),
    }
    const s = await inTurns(phases, rounds, (phase) => phase())
    const perClient = (samples) => each(samples, 'cpu').map((cpu) => cpu / clients)
    return {
      one: time('main-thread time per commit of 1 row and client, sendSSE', perClient(s.one)),
      oneRatio: times('the same ÷ changes() and JSON.stringify per client', ratio(s.one, s.oneAlone, 'cpu'), {
        better: 'lower',
      }),
      many: time(`main-thread time per commit of ${changed} rows and client, sendSSE`, perClient(s.many)),
      manyRatio: times(
        'the same ÷ changes() and JSON.stringify per client',
        ratio(s.many, s.manyAlone, 'cpu'),
        {
          better: 'lower',
        },
      ),
    }
  },
}

/** The response to a client that takes everything at once. */
class Response extends EventEmitter {
  req = { headers: {} }
  writes = 0

  writeHead() {}

  write() {
    this.writes++
    return true
  }
}

function shared(db, response) {
  response.writes-- // the field `retry` is no event
  const ended = sendSSE(db.stream(sql), response, { key: 'id', heartbeat: 3_600_000 })
  return () => {
    response.emit('close')
    return ended
  }
}

function alone(db, response) {
  const changes = db.stream(sql).changes({ key: 'id', rows: false })
  const ended = (async () => {
    for await (const patch of changes) response.write(`data: ${JSON.stringify(patch)}\n\n`)
  })()
  return async () => {
    await changes.return()
    await ended
  }
}

async function run(db, serve, ops, count) {
  const responses = Array.from({ length: clients }, () => new Response())
  const leave = responses.map((response) => serve(db, response))
  const arrived = async (events) => {
    while (responses.some((response) => response.writes < events)) await turn()
  }
  await arrived(1)
  const sampled = await metered(async () => {
    for (let i = 0; i < ops; i++) {
      await db.execute('UPDATE items SET value = value + 1 WHERE id BETWEEN ? AND ?', [i + 1, i + count])
      await arrived(i + 2)
    }
  }, ops)
  await Promise.all(leave.map((leave) => leave()))
  await quiet(db)
  return sampled
}
