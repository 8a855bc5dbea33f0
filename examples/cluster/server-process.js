import { said } from './said.js'

/** A server of the log, as something that can be killed, frozen and started again. */
export class ServerProcess {
  /** 'running', 'frozen', 'killed', or 'ended' by itself. */
  state = 'killed'
  /** True if the server leads the log, as far as is known. */
  isLeader = false
  #server
  #log

  /** `server`: see scripts/cluster/server.mjs. It has been started, and writes into `log`. */
  constructor(server, log) {
    this.name = server.name
    this.#server = server
    this.#log = log
    this.#watch()
  }

  async start() {
    this.#server.start()
    this.#watch()
  }

  /** The end of what it wrote. */
  said() {
    return said(this.#log)
  }

  #watch() {
    const child = this.#server.process
    this.state = child.exitCode === null ? 'running' : 'ended'
    child.once('exit', () => {
      if (child === this.#server.process) this.state = 'ended'
    })
  }

  async kill() {
    this.state = 'killed'
    this.isLeader = false
    await this.#server.kill()
  }

  freeze() {
    this.#server.freeze()
    this.state = 'frozen'
  }

  thaw() {
    this.#server.thaw()
    this.state = 'running'
  }
}
