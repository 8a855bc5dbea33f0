// One server of a log as a process that can be killed, frozen and started again.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { createServer } from 'node:net'

export class Server {
  #command
  #args
  #log
  #keep
  #process

  /**
   * `log`: the file that takes what it prints. `keep` is told of each process and ends it in any case: it is in a group of its
   * own, which Ctrl-C in the terminal does not reach.
   */
  constructor({ name, command, args, log, keep }) {
    this.name = name
    this.#command = command
    this.#args = args
    this.#log = log
    this.#keep = keep
  }

  /** The running process; undefined if it was ended from here. */
  get process() {
    return this.#process
  }

  start() {
    const log = openSync(this.#log, 'a')
    const detached = this.#keep !== undefined
    this.#process = spawn(this.#command, this.#args, { stdio: ['ignore', log, log], detached })
    this.#keep?.(this.#process)
  }

  /** As a machine that loses its power: nothing is said good-bye to. */
  async kill() {
    await this.#end('SIGKILL')
  }

  async stop() {
    await this.#end('SIGTERM')
  }

  /** As a machine that hangs. */
  freeze() {
    this.#process.kill('SIGSTOP')
  }

  thaw() {
    this.#process.kill('SIGCONT')
  }

  async #end(signal) {
    const running = this.#process
    if (!running) return
    this.#process = undefined
    if (running.exitCode !== null || running.signalCode !== null) return
    const exit = once(running, 'exit')
    running.kill(signal)
    await exit
  }
}

/** Ports of the loopback device that nobody listens on. */
export async function freePorts(count) {
  const holders = await Promise.all(Array.from({ length: count }, hold))
  const ports = holders.map((holder) => holder.address().port)
  await Promise.all(holders.map((holder) => new Promise((closed) => holder.close(closed))))
  return ports
}

async function hold() {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  return holder
}
