import { fork } from 'node:child_process'
import { once } from 'node:events'

const child = new URL('sockets-child.mjs', import.meta.url)

/** Clients of a server of events, in a process of their own. Each method resolves when it is done. */
export class SocketPeer {
  #process

  static async start() {
    const peer = new SocketPeer()
    peer.#process = fork(child)
    await once(peer.#process, 'message')
    return peer
  }

  /** Opens connections. Each has got an event then. */
  open(clients, port, path = '/') {
    return this.#tell({ open: clients, port, path })
  }

  /** Each connection has got this text, now or before. */
  until(text) {
    return this.#tell({ until: text })
  }

  /** The first `clients` connections read no more. */
  pause(clients) {
    return this.#tell({ pause: clients })
  }

  resume() {
    return this.#tell('resume')
  }

  close() {
    return this.#tell('close')
  }

  /** Ends the process. */
  leave() {
    this.#process.disconnect()
  }

  /** Kills the process, with all its connections. */
  async kill() {
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await ended
  }

  async #tell(message) {
    const answered = once(this.#process, 'message')
    this.#process.send(message)
    await answered
  }
}
