// These checks must hold in the end, whatever happened.

import { spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailed } from '../../lib/process.mjs'
import { binary } from '../binaries.mjs'
import { TOTAL } from './workload.mjs'

const TRIES = 60

/** Asks until it is answered: the cluster may still be recovering. */
export async function askPatiently(node, command) {
  let answer
  for (let i = 0; i < TRIES; i++) {
    answer = await node.ask(command)
    if (answer.done) return answer.done
    await pause(500)
  }
  throw new CommandFailed(`${node.name} does not ${command.do}: ${answer.code}, ${answer.message}`)
}

/** Checks that all nodes have the same rows under the same row ids, the same schema, and undamaged files. */
export async function compareNodes(nodes) {
  const contents = await Promise.all(nodes.map((node) => askPatiently(node, { do: 'content' })))
  const tables = contents.map(({ tables }) => tables)
  const names = [...new Set(tables.flatMap(Object.keys))]
  const unequal = names.filter((name) => new Set(tables.map((each) => JSON.stringify(each[name]))).size > 1)
  const broken = nodes.filter((_, i) => JSON.stringify(tables[i]['(integrity)']) !== '[["ok"]]')
  return { unequal, broken: broken.map(({ name }) => name), tables: tables[0] }
}

/** Compares what writers were told with the log and with the rows of a node. */
export async function compareMarks(marks, node, listed) {
  const read = { do: 'read', sql: 'SELECT mark FROM written ORDER BY id', params: [], fresh: true }
  const rows = (await askPatiently(node, read)).rows.map(([mark]) => mark)
  const entries = listed
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const positions = entries.map(([position]) => position)
  const first = positions[0] ?? 1
  const inLog = entries.flatMap(([, found]) => found.map((mark) => `<<${mark}>>`))
  const at = new Map(entries.flatMap(([position, found]) => found.map((mark) => [`<<${mark}>>`, position])))
  const there = new Set(rows)
  const acknowledged = [...marks].filter(([, { outcome }]) => outcome === 'done')
  const isIn = ([mark, { position }]) => position < first || at.has(mark)
  const positioned = acknowledged.filter(([mark, { position }]) => position !== undefined && at.has(mark))
  return {
    acknowledged: acknowledged.length,
    unknown: [...marks.values()].filter(({ outcome }) => outcome === 'unknown').length,
    unknownThere: [...marks].filter(([mark, { outcome }]) => outcome === 'unknown' && there.has(mark)).length,
    entries: entries.length,
    notDense: positions.filter((position, i) => position !== first + i).length,
    lost: acknowledged.filter(([mark]) => !there.has(mark)).length,
    lostInLog: first === 1 ? acknowledged.filter((each) => !isIn(each)).length : 'purged',
    // A position says where the write is shown: at its entry, or at one behind it.
    shownBeforeItsEntry: positioned.filter(([mark, { position }]) => position < at.get(mark)).length,
    shownBehindItsEntry: positioned.filter(([mark, { position }]) => position > at.get(mark)).length,
    twice: rows.length - there.size + (inLog.length - at.size),
    failedAndThere: [...marks].filter(
      ([mark, { outcome }]) => outcome === 'none' && (there.has(mark) || at.has(mark)),
    ).length,
    otherOrder: first === 1 ? rows.filter((mark, i) => mark !== inLog[i]).length : 'purged',
  }
}

export async function checkAccounts(nodes) {
  const sql = 'SELECT sum(balance) FROM accounts'
  const sums = await Promise.all(nodes.map((node) => askPatiently(node, { do: 'read', sql, params: [] })))
  return sums.filter(({ rows }) => rows[0][0] !== TOTAL).length
}

/** Each node reads each text once more, and all operations on texts go to the checker of histories. */
export async function checkHistories(nodes, operations) {
  const all = { do: 'read', sql: 'SELECT key, text FROM texts', params: [], fresh: true }
  const last = await Promise.all(nodes.map((node) => lastReads(node, all)))
  const lines = [...operations, ...last.flat()].map((operation) => JSON.stringify(operation)).join('\n')
  const done = spawnSync(binary('histories'), { input: lines, encoding: 'utf8', maxBuffer: 2 ** 30 })
  if (!done.stdout) throw new CommandFailed(`the checker of histories: ${done.stderr}`)
  return JSON.parse(done.stdout)
}

async function lastReads(node, all) {
  const call = Math.round(performance.now() * 1_000)
  const { rows } = await askPatiently(node, all)
  const times = { call, return: Math.round(performance.now() * 1_000) }
  return rows.map(([key, text]) => ({ client: 100 + node.index, key, do: 'read', before: text, ...times }))
}
