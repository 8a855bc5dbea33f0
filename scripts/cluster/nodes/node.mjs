// A node of a cluster as a process that is told what to do, and can be killed and frozen.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { root } from '../../lib/paths.mjs'
import { cargo } from '../../lib/process.mjs'

const built = join(root, 'target', 'debug', 'examples', 'node')

export function buildNode() {
  cargo([
    'build',
    '--locked',
    '--package',
    'resqlite-cluster',
    '--features',
    'nats,etcd',
    '--example',
    'node',
  ])
}

/** A copy of the program, so that all runs of a node are of the same, whatever is built meanwhile. */
export function copyProgram(folder) {
  const copy = join(folder, 'program')
  copyFileSync(built, copy)
  return copy
}

export class Node {
  /** Why openings failed, each with how often. */
  failedOpenings = {}
  #command
  #env
  #errors
  #onEmission
  #onFellBehind
  #process
  #waiting = new Map()
  #nextId = 0
  #shouldRun = false
  #opened

  /** `errors`: the file that takes what it prints to stderr. */
  constructor({
    program,
    name,
    index,
    enter,
    kind,
    cluster,
    database,
    settings,
    env,
    errors,
    onEmission,
    onFellBehind,
  }) {
    this.name = name
    this.index = index
    this.#command = [...enter, program, kind, cluster, 'open', name, database, ...settings]
    this.#env = env
    this.#errors = createWriteStream(errors, { flags: 'a' })
    this.#onEmission = onEmission
    this.#onFellBehind = onFellBehind
  }

  get isOpen() {
    return this.#opened !== undefined && this.#process !== undefined
  }

  /** Opens it, again and again until it is killed. */
  start() {
    this.#shouldRun = true
    this.#spawn()
  }

  #spawn() {
    const [command, ...args] = this.#command
    const env = { ...process.env, ...this.#env }
    const running = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#process = running
    let said = ''
    running.stderr.on('data', (data) => {
      said = (said + data).slice(-2_000)
      this.#errors.write(data)
    })
    // Whoever writes to a process that was killed is told by its exit.
    running.stdin.on('error', () => {})
    const lines = createInterface({ input: running.stdout })
    lines.on('line', (line) => this.#hear(running, JSON.parse(line)))
    running.once('close', (code) => this.#ended(running, code, said))
  }

  #hear(running, told) {
    if (running !== this.#process) return
    if (told.opened !== undefined) this.#opened = told.opened
    else if (told.emitted) this.#onEmission(this, told)
    else {
      this.#waiting.get(told.id)?.(told)
      this.#waiting.delete(told.id)
      // The log has let go of what it needs: it begins from a snapshot when it is opened again.
      if (told.code === 'RESQLITE_FELL_BEHIND' && this.#shouldRun) this.#onFellBehind(this)
    }
  }

  async #ended(running, code, said) {
    if (running !== this.#process) return
    this.#forget()
    if (!this.#shouldRun) return
    const why = said.trim().split('\n').at(-1) || `exit code ${code}`
    this.failedOpenings[why] = (this.failedOpenings[why] ?? 0) + 1
    await pause(300)
    if (this.#shouldRun && !this.#process) this.#spawn()
  }

  /** The commands of the node have no known outcome. */
  #forget() {
    this.#process = undefined
    this.#opened = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const settle of waiting) settle({ code: 'DIED', message: 'the node has died' })
  }

  /** Tells it to do something; its answer has `done`, or `code` and `message`. */
  ask(command) {
    const id = this.#nextId++
    return new Promise((settle) => {
      if (!this.isOpen) return settle({ code: 'CLOSED', message: 'the node is not open' })
      settle.command = command
      settle.asked = performance.now()
      this.#waiting.set(id, settle)
      this.#process.stdin.write(`${JSON.stringify({ id, ...command })}\n`)
    })
  }

  /** The calls without an answer, with their ages in seconds. */
  get unanswered() {
    const now = performance.now()
    return [...this.#waiting.values()].map(({ command, asked }) => ({
      seconds: Math.round((now - asked) / 1_000),
      ...command,
    }))
  }

  async opened() {
    while (!this.isOpen) await pause(20)
  }

  /** As a machine that loses its power: nothing is said good-bye to. */
  async kill() {
    this.#shouldRun = false
    const running = this.#process
    if (!running) return
    this.#forget()
    const closed = once(running, 'close')
    running.kill('SIGKILL')
    await closed
  }

  freeze() {
    this.#process?.kill('SIGSTOP')
  }

  thaw() {
    this.#process?.kill('SIGCONT')
  }

  /** Ends it after what it is doing; kills it if it hangs, and says so. */
  async close() {
    this.#shouldRun = false
    const running = this.#process
    if (!running) return true
    const closed = once(running, 'close').then(() => true)
    running.stdin.end()
    const inTime = await Promise.race([closed, pause(15_000, false)])
    if (!inTime) await this.kill()
    return inTime
  }
}
