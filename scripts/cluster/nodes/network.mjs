// A network of namespaces that this process routes between, so that it can drop what one sends to another. Must run inside.

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { run } from '../../lib/process.mjs'

const ip = (...args) => run('ip', args)

export class Network {
  #places = []
  #cuts = []

  constructor() {
    ip('link', 'set', 'lo', 'up')
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
  }

  /** A place with an address of its own; what runs there begins with `enter`. */
  add() {
    const index = this.#places.length + 1
    const [host, gateway, device] = [`10.77.${index}.2`, `10.77.${index}.1`, `place${index}`]
    const holder = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' })
    const enter = ['nsenter', '--net', '--target', `${holder.pid}`]
    const inThere = (...args) => run(enter[0], [...enter.slice(1), 'ip', ...args])
    waitForNamespace(holder.pid)
    ip('link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${holder.pid}`)
    ip('addr', 'add', `${gateway}/24`, 'dev', device)
    ip('link', 'set', device, 'up')
    inThere('link', 'set', 'lo', 'up')
    inThere('addr', 'add', `${host}/24`, 'dev', 'eth0')
    inThere('link', 'set', 'eth0', 'up')
    inThere('route', 'add', 'default', 'via', gateway)
    const place = { host, enter, holder }
    this.#places.push(place)
    return place
  }

  /** From now on, nothing arrives that `senders` send to `receivers`. Nobody is told: it is lost. */
  drop(senders, receivers) {
    for (const from of senders) {
      for (const to of receivers) {
        const rule = ['from', from.host, 'to', to.host, 'blackhole']
        ip('rule', 'add', ...rule)
        this.#cuts.push(rule)
      }
    }
  }

  /** Everything arrives again. */
  heal() {
    for (const rule of this.#cuts.splice(0)) ip('rule', 'del', ...rule)
  }

  close() {
    for (const { holder } of this.#places) holder.kill()
  }
}

/** Until the process has left our namespace. */
function waitForNamespace(pid) {
  const script = `while [ "$(readlink /proc/${pid}/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done`
  run('sh', ['-c', script])
}
