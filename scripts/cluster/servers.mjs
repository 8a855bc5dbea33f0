// node scripts/cluster/servers.mjs [nats|etcd]: three servers of a log on this machine, until it is interrupted.

import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandFailed, runAsProgram } from '../lib/process.mjs'
import { binary } from './binaries.mjs'
import { freePorts, Server } from './server.mjs'

const COUNT = 3

/** The logs that there are, each with the program that it needs. */
export const PROGRAMS = { nats: 'nats-server', etcd: 'etcd' }

/**
 * Starts three servers of a log. `sync: 'default'` leaves to NATS when it syncs, which loses acknowledged entries.
 * `disks` gives the folder for the data of each; otherwise all is in one folder that `stop` deletes. `places` says where each
 * runs, by its address and the command that enters there; otherwise, all run on the loopback device. `keep`: see `Server`.
 */
export async function startServers(kind, { sync = 'always', disks, places, keep } = {}) {
  if (!PROGRAMS[kind])
    throw new CommandFailed(`no log ${kind}; there are ${Object.keys(PROGRAMS).join(', ')}`)
  const command = binary(PROGRAMS[kind])
  const folder = mkdtempSync(join(tmpdir(), `resqlite-${kind}-`))
  const ports = await freePorts(3 * COUNT)
  const members = Array.from({ length: COUNT }, (_, i) => ({
    ...member(kind, i, ports, disks?.[i] ?? join(folder, `${kind}-${i + 1}`)),
    folder,
    host: places?.[i].host ?? '127.0.0.1',
    enter: places?.[i].enter ?? [],
  }))
  const servers = members.map((each) => {
    const args = kind === 'nats' ? natsArguments(each, members, sync) : etcdArguments(each, members)
    const [program, ...rest] = [...each.enter, command, ...args]
    return new Server({
      name: each.name,
      command: program,
      args: rest,
      log: join(folder, `${each.name}.log`),
      keep,
    })
  })
  for (const server of servers) server.start()
  return {
    kind,
    folder,
    servers,
    /** The folder with the data of each. */
    data: members.map(({ data }) => data),
    urls: members.map(({ host, client }) =>
      kind === 'nats' ? `nats://app:app@${host}:${client}` : `http://${host}:${client}`,
    ),
    /** Where each answers questions about itself, by HTTP. */
    monitors: members.map(
      ({ host, client, monitor }) => `http://${host}:${kind === 'nats' ? monitor : client}`,
    ),
    /** The settings that the tests and the appending programs read. */
    get env() {
      const system =
        kind === 'nats' ? { RESQLITE_NATS_SYSTEM: this.urls.join(',').replaceAll('app:app', 'sys:sys') } : {}
      return { [`RESQLITE_${kind.toUpperCase()}`]: this.urls.join(','), ...system }
    },
    async stop() {
      await Promise.all(servers.map((server) => server.kill()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function member(kind, index, ports, data) {
  mkdirSync(data, { recursive: true })
  const [client, peer, monitor] = ports.slice(3 * index)
  return { name: `${kind}-${index + 1}`, data, client, peer, monitor }
}

function natsArguments({ name, data, folder, host, client, peer, monitor }, members, sync) {
  const routes = members.map((other) => `nats://${other.host}:${other.peer}`)
  const settings = `
    server_name: ${name}
    listen: "${host}:${client}"
    http: "${host}:${monitor}"
    jetstream { store_dir: "${data}"${sync === 'always' ? ', sync_interval: always' : ''} }
    cluster { name: resqlite, listen: "${host}:${peer}", routes: [${routes.map((route) => `"${route}"`)}] }
    accounts {
      APP { jetstream: enabled, users: [{ user: app, password: app }] }
      SYS { users: [{ user: sys, password: sys }] }
    }
    system_account: SYS
  `
  const file = join(folder, `${name}.conf`)
  writeFileSync(file, settings)
  return ['--config', file]
}

function etcdArguments({ name, data, host, client, peer }, members) {
  const cluster = members.map((other) => `${other.name}=http://${other.host}:${other.peer}`).join(',')
  const listen = (which, port) => [`--listen-${which}-urls`, `http://${host}:${port}`]
  return [
    ...['--name', name, '--data-dir', join(data, 'etcd'), '--log-level', 'warn'],
    ...[...listen('client', client), '--advertise-client-urls', `http://${host}:${client}`],
    ...[...listen('peer', peer), '--initial-advertise-peer-urls', `http://${host}:${peer}`],
    ...['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
  ]
}

await runAsProgram(import.meta.url, async ([kind = 'nats']) => {
  const started = await startServers(kind)
  for (const [name, value] of Object.entries(started.env)) console.log(`${name}=${value}`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await started.stop()
})
