import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandFailed } from '../../scripts/lib/process.mjs'
import { Acknowledgements } from './acknowledgements.js'
import { said } from './said.js'

const program = fileURLToPath(new URL('./node.js', import.meta.url))

/** A node of the cluster, as this process sees it: something that can be killed, frozen and started again. */
export class NodeProcess {
  /** 'running', 'starting', 'frozen', 'killed', or 'ended' by itself. */
  state = 'killed'
  /** The status that the process sent last. */
  status
  acknowledgements = new Acknowledgements()
  #settings
  #tell
  #kept
  #errors
  #run = 0
  #process
  #waiting = new Map()

  /** `settings`: what node.js reads. `tell(ballot, outcome)` is told what became of each of its writes. */
  constructor({ folder, tell, kept, ...settings }) {
    this.name = settings.name
    this.url = `http://127.0.0.1:${settings.port}`
    this.file = settings.file
    this.#settings = settings
    this.#tell = tell
    this.#kept = kept
    this.#errors = join(folder, `${settings.name}.log`)
  }

  /** Resolves when it is open; rejects with what it wrote if it ends instead. */
  async start() {
    const errors = openSync(this.#errors, 'w')
    const settings = JSON.stringify({ ...this.#settings, run: ++this.#run })
    const stdio = ['ignore', errors, errors, 'ipc']
    // A group of its own: Ctrl-C in the terminal is for whoever started it.
    const child = spawn(process.execPath, [program, settings], { stdio, detached: true })
    this.#process = child
    this.#kept.process(child)
    this.state = 'starting'
    child.on('message', (message) => this.#hear(message))
    child.once('exit', () => this.#ended(child))
    await this.#answer('opened')
    if (this.state === 'starting') this.state = 'running'
    this.acknowledgements.skip()
  }

  /** Asks for something, and gives back the answer. */
  async ask(word, answer) {
    const answered = this.#answer(answer)
    this.tell(word)
    return await answered
  }

  tell(word) {
    if (this.#process?.connected) this.#process.send(word)
  }

  /** As a machine that loses its power. */
  async kill() {
    await this.#end(() => this.#process.kill('SIGKILL'))
  }

  /** Ends it in order. */
  async close() {
    await this.#end(() => this.tell('close'))
  }

  /** As a machine that hangs. */
  freeze() {
    this.#process.kill('SIGSTOP')
    this.state = 'frozen'
  }

  thaw() {
    this.#process.kill('SIGCONT')
    this.state = 'running'
  }

  async #end(how) {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    this.state = 'killed'
    const exit = once(child, 'exit')
    how()
    await exit
  }

  #ended(child) {
    if (child !== this.#process) return
    if (this.state !== 'killed') this.state = 'ended'
    this.status = undefined
    this.#fail(new CommandFailed(`${this.name} has ended: ${this.said()}`))
  }

  /** The end of what it wrote. */
  said() {
    return said(this.#errors)
  }

  #hear({ status, told, failed, ...answer }) {
    if (status) this.status = status
    for (const [ballot, outcome] of told ?? []) {
      if (outcome === 'done') this.acknowledgements.add()
      this.#tell(ballot, outcome)
    }
    if (failed) return this.#fail(new CommandFailed(`${this.name}: ${failed}`))
    for (const [name, value] of Object.entries(answer)) {
      this.#waiting.get(name)?.resolve(value)
      this.#waiting.delete(name)
    }
  }

  #answer(name) {
    return new Promise((resolve, reject) => this.#waiting.set(name, { resolve, reject }))
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
