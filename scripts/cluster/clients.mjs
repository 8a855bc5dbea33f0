// Clients that append to a log side by side, one that follows it, and what they were told.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../lib/paths.mjs'
import { CommandFailed, cargo } from '../lib/process.mjs'

const program = join(root, 'target', 'debug', 'examples', 'log')

export function buildClient() {
  cargo(['build', '--locked', '--package', 'resqlite-cluster', '--features', 'nats,etcd', '--example', 'log'])
}

/** Runs the client for one question, and gives back what it prints. */
export function askClient(args, env) {
  const done = spawnSync(program, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    timeout: 120_000,
  })
  if (done.status !== 0)
    throw new CommandFailed(`log ${args.join(' ')}: ${done.stderr || 'no answer in time'}`)
  return done.stdout
}

/** A client that runs until it is stopped, and what it prints, line by line. */
class Client {
  #process

  constructor({ kind, env }, name, args, onLine) {
    const stdio = ['pipe', 'pipe', 'inherit']
    this.#process = spawn(program, [kind, name, ...args], { env: { ...process.env, ...env }, stdio })
    createInterface({ input: this.#process.stdout }).on('line', (line) => onLine(...line.split(' ')))
  }

  /** Ends it after what it is doing; kills it if it hangs. */
  async stop() {
    const running = this.#process
    if (running.exitCode !== null || running.signalCode !== null) return
    const exit = once(running, 'exit')
    running.stdin.end()
    const timer = setTimeout(() => running.kill('SIGKILL'), 15_000)
    await exit
    clearTimeout(timer)
  }
}

/** The entries that the tail of a log has given. */
export class Follower {
  entries = []
  /** The longest time from when a writer was told to when we were, in milliseconds. */
  longestDelay = 0
  #client
  #told

  constructor(started, name, told) {
    this.#told = told
    this.#client = new Client(started, name, ['follow'], (position, bytes) => this.#follow(position, bytes))
  }

  #follow(position, bytes) {
    this.entries.push([position, bytes])
    const told = this.#told.get(position)
    if (told) this.longestDelay = Math.max(this.longestDelay, performance.now() - told)
  }

  async stop() {
    await this.#client.stop()
  }
}

export class Clients {
  /** The bytes that were acknowledged, by position. */
  acknowledged = new Map()
  /** When that was. */
  times = new Map()
  /** Positions that were acknowledged to two. */
  twice = []
  #last = performance.now()
  #longest = 0
  #clients = []
  #waiting = []

  constructor(started, name, count) {
    const acknowledge = (position, bytes) => this.#acknowledge(position, bytes)
    for (let i = 0; i < count; i++)
      this.#clients.push(new Client(started, name, ['append', `c${i}`], acknowledge))
  }

  #acknowledge(position, bytes) {
    if (this.acknowledged.has(position)) this.twice.push(position)
    this.acknowledged.set(position, bytes)
    const now = performance.now()
    this.times.set(position, now)
    this.#longest = Math.max(this.#longest, now - this.#last)
    this.#last = now
    for (const go of this.#waiting.splice(0)) go(true)
  }

  /** Waits for the next acknowledgement; false if none comes in this time. */
  progress(milliseconds) {
    return new Promise((go) => {
      const timer = setTimeout(go, milliseconds, false)
      this.#waiting.push((progressed) => {
        clearTimeout(timer)
        go(progressed)
      })
    })
  }

  /** The longest time without an acknowledgement since this was asked before, in milliseconds. */
  takeLongestGap() {
    const longest = this.#longest
    this.#longest = 0
    return longest
  }

  async stop() {
    await Promise.all(this.#clients.map((client) => client.stop()))
  }
}
