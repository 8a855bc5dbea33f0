// Clients of nodes that never rest: single writes, batches, transactions that read what they change, transfers between
// accounts, texts that are set and appended to, reads of every kind. Each checks what it reads.

import { setTimeout as pause } from 'node:timers/promises'
import { generator } from '../../lib/random.mjs'
import { outcomeOf } from './record.mjs'

/** Clients of each node that do everything, one after the other; one more only reads. */
const LANES = 3
/** The longest rest between two operations of a client, in milliseconds. */
const REST = 20
/** So many operations on a text, then another begins: what takes all orders into account must not have too many. */
const PER_TEXT = 40
const ACCOUNTS = 8
const BALANCE = 100
export const TOTAL = ACCOUNTS * BALANCE

export const SCHEMA = `
  CREATE TABLE written(id INTEGER PRIMARY KEY, mark TEXT NOT NULL);
  CREATE INDEX written_mark ON written(mark);
  CREATE TABLE texts(key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE large(id INTEGER PRIMARY KEY, bytes BLOB);
  CREATE TABLE accounts(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
  WITH RECURSIVE ids(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM ids WHERE id < ${ACCOUNTS - 1})
  INSERT INTO accounts SELECT id, ${BALANCE} FROM ids;
`
const INSERT = 'INSERT INTO written(mark) VALUES (?)'
const SET = `INSERT INTO texts VALUES (?1, ?2) ON CONFLICT DO UPDATE SET text = excluded.text`
const APPEND = `INSERT INTO texts VALUES (?1, ?2) ON CONFLICT DO UPDATE SET text = text || excluded.text RETURNING text`
const APPEND_TO = `INSERT INTO texts VALUES (?1, coalesce(?2, '') || ?3) ON CONFLICT DO UPDATE SET text = excluded.text`
const TEXT = 'SELECT text FROM texts WHERE key = ?'
const MOVE = 'UPDATE accounts SET balance = balance + ? WHERE id = ?'
const BALANCE_OF = 'SELECT balance FROM accounts WHERE id = ?'
const LEAVE = 'UPDATE accounts SET balance = ? + ? WHERE id = ?'

export class Workload {
  #record
  #isOver = false
  #lanes
  /** The count of operations on texts that are set, and on those that are appended to. */
  #counts = { set: 0, append: 0 }
  /** The values that each node has shown of each text that is appended to. */
  #shown = [new Map(), new Map(), new Map()]

  constructor(nodes, record, seed) {
    this.#record = record
    this.#lanes = nodes.flatMap((node) =>
      Array.from({ length: LANES + 1 }, (_, lane) =>
        this.#run(node, lane, generator(seed + 31 * node.index + lane)),
      ),
    )
  }

  /** Ends after what runs; returns how many operations were not answered within a minute. */
  async stop() {
    this.#isOver = true
    const late = Promise.race([pause(60_000, true), Promise.all(this.#lanes).then(() => false)])
    if (!(await late)) return 0
    const unanswered = await Promise.all(
      this.#lanes.map((lane) => Promise.race([lane.then(() => 0), pause(10, 1)])),
    )
    return unanswered.reduce((sum, each) => sum + each, 0)
  }

  /** The power of a machine has failed: its node may show what it showed before, not what it showed last. */
  forget(index) {
    this.#shown[index] = new Map()
  }

  async #run(node, lane, random) {
    const client = new Client(node, lane, random, this.#record, this)
    while (!this.#isOver) {
      if (node.isOpen) await (lane < LANES ? client.step() : client.look())
      await pause(random() * REST)
    }
  }

  /** The text that operations of this kind are about now. */
  keyOf(kind) {
    return `${kind}-${Math.floor(this.#counts[kind] / PER_TEXT)}`
  }

  /** The same, for an operation that is one of so many. */
  nextKeyOf(kind) {
    const key = this.keyOf(kind)
    this.#counts[kind] += 1
    return key
  }

  shownBy(index, key) {
    return this.#shown[index].get(key) ?? ''
  }

  /** Of two that read at the same time, either may have read first. */
  showed(index, key, text) {
    if (text.length > this.shownBy(index, key).length) this.#shown[index].set(key, text)
  }
}

/** One client of one node. */
class Client {
  #node
  #name
  #id
  #random
  #record
  #workload
  #count = 0

  #steps = [
    [30, () => this.#write()],
    [8, () => this.#writeSeveral()],
    [10, () => this.#transfer()],
    [4, () => this.#transferInBatch()],
    [8, () => this.#set()],
    [8, () => this.#exchange()],
    [8, () => this.#append()],
    [8, () => this.#appendInTransaction()],
    [8, () => this.#readFresh('set')],
    [8, () => this.#readFresh('append')],
    [20, () => this.look()],
  ]

  constructor(node, lane, random, record, workload) {
    this.#node = node
    this.#name = `${node.name}.${lane}`
    this.#id = node.index * (LANES + 1) + lane
    this.#random = random
    this.#record = record
    this.#workload = workload
  }

  async step() {
    let at = this.#random() * this.#steps.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, step] of this.#steps) {
      at -= weight
      if (at < 0) return step()
    }
  }

  #newMark() {
    return `<<${this.#name}.${this.#count++}>>`
  }

  async #ask(is, command) {
    const called = performance.now()
    const answer = await this.#node.ask(command)
    // A call that was never made says nothing.
    if (answer.code !== 'CLOSED') this.#record.ended({ node: this.#node, is, called, answer })
    return { called, returned: performance.now(), answer }
  }

  #settle(marks, { answer }) {
    const [outcome, position] = [outcomeOf(answer), answer.done?.position]
    for (const mark of marks) this.#record.marks.set(mark, { outcome, position })
  }

  async #write() {
    const mark = this.#newMark()
    const asked = await this.#ask('write', { do: 'execute', sql: INSERT, params: [mark] })
    this.#settle([mark], asked)
    // A write whose answer is lost has happened, and this node may not show it yet.
    if (asked.answer.done?.rows) await this.#readOwn(mark)
  }

  /** A node shows at once what it has acknowledged. */
  async #readOwn(mark) {
    const sql = 'SELECT count(*) FROM written WHERE mark = ?'
    const { answer } = await this.#ask('read', { do: 'read', sql, params: [mark] })
    const count = answer.done?.rows[0][0]
    if (answer.done && count !== 1)
      this.#record.violated('a node does not show its own write once', { mark, count })
  }

  async #writeSeveral() {
    const marks = [this.#newMark(), this.#newMark(), this.#newMark()]
    const statements = marks.map((mark) => [INSERT, [mark]])
    this.#settle(marks, await this.#ask('write', { do: 'batch', statements }))
  }

  async #transfer() {
    const [from, to, amount, mark] = [...this.#twoAccounts(), this.#newMark()]
    const statements = [
      [BALANCE_OF, [from]],
      [BALANCE_OF, [to]],
      [LEAVE, [{ of: 0 }, -amount, from]],
      [LEAVE, [{ of: 1 }, amount, to]],
      [INSERT, [mark]],
    ]
    this.#settle([mark], await this.#ask('write', { do: 'transaction', statements }))
  }

  async #transferInBatch() {
    const [from, to, amount, mark] = [...this.#twoAccounts(), this.#newMark()]
    const statements = [
      [MOVE, [-amount, from]],
      [INSERT, [mark]],
      [MOVE, [amount, to]],
    ]
    this.#settle([mark], await this.#ask('write', { do: 'batch', statements }))
  }

  #twoAccounts() {
    const from = Math.floor(this.#random() * ACCOUNTS)
    const other = 1 + Math.floor(this.#random() * (ACCOUNTS - 1))
    return [from, (from + other) % ACCOUNTS, 1 + Math.floor(this.#random() * 9)]
  }

  async #set() {
    const [key, value] = [this.#workload.nextKeyOf('set'), this.#newText()]
    const asked = await this.#ask('write', { do: 'execute', sql: SET, params: [key, value] })
    this.#operate({ key, do: 'write', value }, asked)
  }

  async #exchange() {
    const [key, value] = [this.#workload.nextKeyOf('set'), this.#newText()]
    const statements = [
      [TEXT, [key]],
      [SET, [key, value]],
    ]
    const asked = await this.#ask('write', { do: 'transaction', statements })
    this.#operate({ key, do: 'write', value, before: textIn(asked.answer.done?.rows?.[0]) }, asked)
  }

  async #append() {
    const [key, value] = [this.#workload.nextKeyOf('append'), this.#newText()]
    const asked = await this.#ask('write', { do: 'execute', sql: APPEND, params: [key, value] })
    // Its answer may be lost, though it is known to be done.
    const after = asked.answer.done?.rows?.[0]?.[0]
    this.#operate({ key, do: 'append', value, after }, asked)
    if (after !== undefined) this.#workload.showed(this.#node.index, key, after)
  }

  async #appendInTransaction() {
    const [key, value] = [this.#workload.nextKeyOf('append'), this.#newText()]
    const statements = [
      [TEXT, [key]],
      [APPEND_TO, [key, { of: 0 }, value]],
    ]
    const asked = await this.#ask('write', { do: 'transaction', statements })
    const before = textIn(asked.answer.done?.rows?.[0])
    this.#operate({ key, do: 'append', value, before }, asked)
    if (before !== undefined) this.#workload.showed(this.#node.index, key, before + value)
  }

  async #readFresh(kind) {
    const key = this.#workload.nextKeyOf(kind)
    const asked = await this.#ask('fresh', { do: 'read', sql: TEXT, params: [key], fresh: true })
    if (asked.answer.done) this.#operate({ key, do: 'read', before: textIn(asked.answer.done.rows) }, asked)
  }

  /** The state of a node may be old, but it never goes back. */
  async look() {
    const key = this.#workload.keyOf('append')
    const least = this.#workload.shownBy(this.#node.index, key)
    const { answer } = await this.#ask('read', { do: 'read', sql: TEXT, params: [key] })
    if (!answer.done) return
    const text = textIn(answer.done.rows)
    if (!text.startsWith(least))
      this.#record.violated('a node shows what is older than what it has shown', {
        node: this.#node.name,
        key,
        text,
        least,
      })
    this.#workload.showed(this.#node.index, key, text)
  }

  #newText() {
    return `${this.#name}.${this.#count++},`
  }

  /** Nobody may see a write that has not happened, so the history is without it. */
  #operate(operation, { called, returned, answer }) {
    const outcome = outcomeOf(answer)
    if (outcome === 'none') return
    const times = {
      call: microseconds(called),
      return: outcome === 'done' ? microseconds(returned) : undefined,
    }
    this.#record.operations.push({ client: this.#id, ...operation, ...times })
  }
}

/** The text that rows have, which is empty where there is none. */
function textIn(rows) {
  return rows === undefined ? undefined : (rows[0]?.[0] ?? '')
}

function microseconds(milliseconds) {
  return Math.round(milliseconds * 1_000)
}
