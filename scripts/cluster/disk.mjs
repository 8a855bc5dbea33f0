// A disk whose power can fail: a folder behind a file system that takes back what was not synced. Linux, as root.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { binary } from './binaries.mjs'

export class Disk {
  #program = binary('powerloss')
  #data
  #running

  constructor(folder) {
    this.#data = join(folder, 'data')
    this.path = join(folder, 'mounted')
    for (const each of [this.#data, this.path]) mkdirSync(each, { recursive: true })
  }

  async mount(seed) {
    const args = [this.#data, this.path, ...(seed === undefined ? [] : [String(seed)])]
    this.#running = spawn(this.#program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface({ input: this.#running.stdout })
    const [said] = await once(lines, 'line')
    if (said !== 'mounted') throw new Error(`${this.path}: ${said}`)
    return lines
  }

  /** Loses the writes that were not synced: all, or those that the seed chooses. Nobody may use the disk meanwhile. */
  async failPower() {
    await this.#end('SIGUSR1')
  }

  async unmount() {
    if (this.#running) await this.#end('SIGTERM')
  }

  async #end(signal) {
    const running = this.#running
    this.#running = undefined
    const exit = once(running, 'exit')
    running.kill(signal)
    await exit
  }
}
