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
 * `disks` gives the folder for the data of each; otherwise all is in one folder that `stop` deletes.
 */
export async function startServers(kind, { sync = 'always', disks } = {}) {
  if (!PROGRAMS[kind])
    throw new CommandFailed(`no log ${kind}; there are ${Object.keys(PROGRAMS).join(', ')}`)
  const command = binary(PROGRAMS[kind])
  const folder = mkdtempSync(join(tmpdir(), `resqlite-${kind}-`))
  const ports = await freePorts(2 * COUNT)
  const members = Array.from({ length: COUNT }, (_, i) => member(kind, i, ports, folder, disks))
  const servers = members.map((each) => {
    const args = kind === 'nats' ? natsArguments(each, members, sync) : etcdArguments(each, members)
    return new Server({ name: each.name, command, args, log: join(folder, `${each.name}.log`) })
  })
  for (const server of servers) server.start()
  return {
    kind,
    folder,
    servers,
    urls: members.map(({ client }) =>
      kind === 'nats' ? `nats://app:app@127.0.0.1:${client}` : `http://127.0.0.1:${client}`,
    ),
    /** What the tests and the programs that append read. */
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

function member(kind, index, ports, folder, disks) {
  const name = `${kind}-${index + 1}`
  const data = disks?.[index] ?? join(folder, name)
  mkdirSync(data, { recursive: true })
  return { name, data, folder, client: ports[2 * index], peer: ports[2 * index + 1] }
}

function natsArguments({ name, data, folder, client, peer }, members, sync) {
  const routes = members.map((other) => `nats://127.0.0.1:${other.peer}`)
  const settings = `
    server_name: ${name}
    listen: "127.0.0.1:${client}"
    jetstream { store_dir: "${data}"${sync === 'always' ? ', sync_interval: always' : ''} }
    cluster { name: resqlite, listen: "127.0.0.1:${peer}", routes: [${routes.map((route) => `"${route}"`)}] }
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

function etcdArguments({ name, data, client, peer }, members) {
  const cluster = members.map((other) => `${other.name}=http://127.0.0.1:${other.peer}`).join(',')
  const listen = (which, port) => [`--listen-${which}-urls`, `http://127.0.0.1:${port}`]
  return [
    ...['--name', name, '--data-dir', join(data, 'etcd'), '--log-level', 'warn'],
    ...[...listen('client', client), '--advertise-client-urls', `http://127.0.0.1:${client}`],
    ...[...listen('peer', peer), '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
    ...['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
  ]
}

await runAsProgram(import.meta.url, async ([kind = 'nats']) => {
  const started = await startServers(kind)
  for (const [name, value] of Object.entries(started.env)) console.log(`${name}=${value}`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await started.stop()
})
