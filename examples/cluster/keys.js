import { emitKeypressEvents } from 'node:readline'
import { freezeOrThaw, killOrRevive } from './breaking.js'

const NODE_KEYS = 'abc'
const SERVER_KEYS = 'xyz'

/** The key of each part, by its name. */
export function keysOf({ nodes, servers }) {
  const keyed = (parts, keys) => parts.map(({ name }, i) => [name, keys[i]])
  return new Map([...keyed(nodes, NODE_KEYS), ...keyed(servers, SERVER_KEYS)])
}

/** Does what keys ask for. Resolves when `q` was pressed. */
export function obeyKeys(machines, keys, tell) {
  const byKey = new Map([...keys].map(([name, key]) => [key, machines.part(name)]))
  const { stdin } = process
  emitKeypressEvents(stdin)
  stdin.setRawMode(true)
  stdin.resume()
  return new Promise((resolve) => {
    stdin.on('keypress', (_text, { name, ctrl, shift }) => {
      if (ctrl && name === 'c') return process.emit('SIGINT', 'SIGINT')
      if (name === 'q') return resolve()
      const part = byKey.get(name)
      if (part) (shift ? freezeOrThaw : killOrRevive)(part).then(tell, ({ message }) => tell(message))
    })
  })
}

export function forgetKeys() {
  process.stdin.setRawMode(false)
  process.stdin.removeAllListeners('keypress')
  process.stdin.pause()
}
