import { setTimeout as sleep } from 'node:timers/promises'
import { activeSince, loopNow } from '../../measure.mjs'
import { quiet } from '../burst.mjs'
import { distinctly, rows, table, values } from '../cases/small.mjs'
import { fill, reactive, rowsOf } from '../define.mjs'
import { fittedTask } from '../fit.mjs'
import { assertRows } from '../model.mjs'

/** The task of live queries that are opened and stopped again, each another one; `cycles(open, ops)` → { wall, main } in all. */
const cycling =
  (writes, cycles) =>
  async (session, _shape, _owner, { quick }) => {
    const model = await fill(session, table, rowsOf(values, 1, rows))
    let opened = 0
    /** Opens one; resolves with its first value and the function that stops it. */
    const open = async () => {
      const query = distinctly(++opened)
      let first
      const stop = await session.live(query, (rows) => {
        first ??= rows
      })
      return { stop, check: () => assertRows(first, query.rows(model), query.sql) }
    }
    return await fittedTask({ writes, quick }, async (ops) => {
      await sleep(2)
      globalThis.gc?.({ type: 'minor' })
      const { wall, main } = await cycles(open, ops)
      await quiet(session, [])
      await session.settle?.()
      if (session.errors.length > 0) throw session.errors[0]
      return { wall: wall / ops, main: main / ops }
    })
  }

async function firsts(open, ops) {
  let [wall, main] = [0, 0]
  for (let i = 0; i < ops; i++) {
    const loop = loopNow()
    const start = performance.now()
    const { stop, check } = await open()
    wall += performance.now() - start
    main += activeSince(loop)
    check()
    await stop()
  }
  return { wall, main }
}

async function whole(open, ops) {
  const loop = loopNow()
  const start = performance.now()
  const checks = []
  for (let i = 0; i < ops; i++) {
    const { stop, check } = await open()
    checks.push(check)
    await stop()
  }
  const sample = { wall: performance.now() - start, main: activeSince(loop) }
  for (const check of checks) check()
  return sample
}

export const first = reactive({
  id: 'reactive-first',
  title: 'subscribe → first value of a live list of 100 rows',
  measures: {},
  prepare: cycling(100, firsts),
})

export const churn = reactive({
  id: 'reactive-churn',
  title: 'subscribe, first value, unsubscribe, one after the other, each another live list of 100 rows',
  measures: {},
  prepare: cycling(100, whole),
})
