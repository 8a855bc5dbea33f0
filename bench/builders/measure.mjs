import { time, times } from '../live/figure.mjs'
import { each, inTurns, metered, ratio } from '../live/turns.mjs'
import { calibrate } from '../measure.mjs'
import { loadPeer } from '../peers/index.mjs'
import { makeFile } from '../workloads/file.mjs'
import { direct } from './direct.mjs'
import { choosePackages } from './packages.mjs'

const rows = 1000
const schema = 'CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)'
const nameOf = (id) => `user ${id}`

const calls = {
  select: { title: 'select by key', run: ({ select }) => oneByOne((i) => select(1 + (i % rows))) },
  together: {
    title: 'select by key, 100 at once',
    step: 100,
    run: ({ select }) => manyAtOnce(100, (i) => select(1 + (i % rows))),
  },
  insert: { title: 'insert', adds: 1, run: ({ insert }) => oneByOne((i) => insert(nameOf(i))) },
  transaction: {
    title: 'transaction of four statements',
    adds: 0,
    run: ({ transaction }) => oneByOne((i) => transaction(nameOf(i))),
  },
}

/** Each call by four that take turns: the builder on its driver and on resqlite, and both without it. */
export async function measureBuilder(
  { title, driver, peer = driver, packages, open },
  { file, rounds, quick },
) {
  choosePackages(packages)
  const names = ['own', 'ours', 'ownDirect', 'oursDirect']
  const files = Object.fromEntries(names.map((name) => [name, file(name)]))
  for (const path of Object.values(files)) makeFile(path, schema, { users: usersOf(rows) })
  const contenders = {
    ...(await open(files)),
    ownDirect: await direct(await loadPeer(peer), files.ownDirect),
    oursDirect: await direct(await loadPeer('resqlite'), files.oursDirect),
  }
  for (const name of names) await check(name, contenders[name])
  await checkDurability(contenders.own)
  const figures = {}
  for (const [id, call] of Object.entries(calls)) {
    const measured = await measureCall(call, contenders, { rounds, sampleMs: quick ? 30 : 120 })
    Object.assign(figures, figuresOf(id, call.title, measured, { title, driver, peer }))
  }
  for (const { close } of Object.values(contenders)) await close()
  return figures
}

async function measureCall({ run, step, adds }, contenders, { rounds, sampleMs }) {
  const tasks = {}
  for (const [name, contender] of Object.entries(contenders)) {
    const task = { step, run: run(contender) }
    tasks[name] = { ...task, raw: contender.raw, ops: await calibrate(task, sampleMs) }
  }
  return await inTurns(tasks, rounds, async ({ run, ops, raw }, label) => {
    const before = await countOf(raw)
    const sampled = await metered(run, ops)
    const added = (await countOf(raw)) - before
    if (added !== (adds ?? 0) * ops) throw new Error(`${label}: ${added} rows more after ${ops} calls`)
    return sampled
  })
}

function figuresOf(id, call, { own, ours, ownDirect, oursDirect }, { title, driver, peer }) {
  const lower = { better: 'lower' }
  return {
    [id]: times(`${call}: on resqlite ÷ on ${driver}`, ratio(ours, own, 'wall'), lower),
    [`${id}Main`]: times(`${call}, main thread: on resqlite ÷ on ${driver}`, ratio(ours, own, 'main'), lower),
    [`${id}Own`]: time(`${call}, on ${driver}`, each(own, 'wall')),
    [`${id}Ours`]: time(`${call}, on resqlite`, each(ours, 'wall')),
    [`${id}OverOwn`]: times(`${call}: ${title} ÷ ${peer} alone`, ratio(own, ownDirect, 'wall'), lower),
    [`${id}OverOurs`]: times(`${call}: ${title} ÷ resqlite alone`, ratio(ours, oursDirect, 'wall'), lower),
  }
}

/** That the calls do what they should. */
async function check(name, { select, transaction, raw }) {
  const { id, name: found } = await select(7)
  if (Number(id) !== 7 || found !== nameOf(7)) throw new Error(`${name}: another row than the one asked for`)
  if ((await select(0)) != null) throw new Error(`${name}: a row that is not there`)
  const before = await countOf(raw)
  await transaction('one')
  if ((await countOf(raw)) !== before) throw new Error(`${name}: the transaction left something`)
}

/** Only the builder's own driver is asked here. The direct peers are checked when they open; resqlite's default is NORMAL. */
async function checkDurability({ raw }) {
  const of = async (name) => Object.values((await raw(`PRAGMA ${name}`))[0])[0]
  const [journal, synchronous] = [await of('journal_mode'), await of('synchronous')]
  if (journal !== 'wal' || Number(synchronous) !== 1)
    throw new Error(`journal_mode is ${journal} and synchronous ${synchronous}; wal and NORMAL are meant`)
}

const countOf = async (raw) => Number((await raw('SELECT count(*) AS n FROM users'))[0].n)

const usersOf = (count) => Array.from({ length: count }, (_, i) => [i + 1, nameOf(i + 1), i])

const oneByOne = (call) => async (ops) => {
  for (let i = 0; i < ops; i++) await call(i)
}

const manyAtOnce = (width, call) => async (ops) => {
  for (let i = 0; i < ops; i += width) await Promise.all(Array.from({ length: width }, (_, j) => call(i + j)))
}
