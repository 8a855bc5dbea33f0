// node sockets-child.mjs: clients of a server of events, for another process. socket-peer.mjs starts it.
//
// { open: n, port, path }: opens n connections, and answers when each has got an event.
// { until: text }:         answers when each has got this text; also if that was before.
// { pause: n }:            the first n connections read no more. Answers at once.
// 'resume':                they go on. Answers at once.
// 'close':                 ends the connections, and answers.
import { connect } from 'node:net'

const longest = 64 // characters of a text to wait for

class Client {
  arrived = false
  #tail = ''
  #socket

  constructor(port, path) {
    this.#socket = connect(port, '127.0.0.1', () => {
      this.#socket.write(
        `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n\r\n`,
      )
    })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (text) => {
      this.#tail += text
      this.look()
    })
  }

  look() {
    if (!this.arrived && this.#tail.includes(text)) {
      this.arrived = true
      if (--missing === 0) answer()
    }
    this.#tail = this.#tail.slice(-longest - sizeOfEvent)
  }

  pause() {
    this.#socket.pause()
  }

  resume() {
    this.#socket.resume()
  }

  close() {
    return new Promise((resolve) => this.#socket.once('close', resolve).destroy())
  }
}

const sizeOfEvent = 16_384 // the text may stand that far from the end of an event: behind it come texts of 8 KiB
let clients = []
let text = 'event:'
let missing = 0

const answer = () => process.send('done')

process.on('message', async (message) => {
  if (message === 'close') {
    await Promise.all(clients.map((client) => client.close()))
    clients = []
    answer()
  } else if (message === 'resume') {
    for (const client of clients) client.resume()
    answer()
  } else if (message.pause !== undefined) {
    for (const client of clients.slice(0, message.pause)) client.pause()
    answer()
  } else if (message.open !== undefined) {
    wait('event:', message.open)
    clients = Array.from({ length: message.open }, () => new Client(message.port, message.path))
  } else {
    wait(message.until, clients.length)
    for (const client of clients) client.arrived = false
    for (const client of clients) client.look()
  }
})
process.once('disconnect', () => process.exit())
answer()

function wait(forText, count) {
  text = forText
  missing = count
}
