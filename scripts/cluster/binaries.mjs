// The servers of the logs: from PATH, or compiled by Go into target/servers.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { CommandFailed, run } from '../lib/process.mjs'

const built = join(root, 'target', 'servers')
const NATS = 'github.com/nats-io/nats-server/v2@v2.15.2'

const compile = {
  'nats-server': () => run('go', ['install', NATS], { env: { GOBIN: built } }),
  etcd: () => compileIn('etcd', 'go.etcd.io/etcd/server/v3', 'etcd'),
  powerloss: () => compileIn('powerloss', '.', 'powerloss'),
  histories: () => compileIn('histories', '.', 'histories'),
}

/** The programs that only this repository has. */
const OURS = ['powerloss', 'histories']

/** Why the program can be neither found nor compiled here; undefined if it can. */
export function missing(name) {
  if (existing(name) || answers('go', 'version')) return undefined
  return `${name} is not in PATH, and there is no Go to compile it with (https://go.dev/dl)`
}

/** The path of the program, which is compiled if it is not there yet. */
export function binary(name) {
  const why = missing(name)
  if (why) throw new CommandFailed(why)
  if (!existing(name)) {
    mkdirSync(built, { recursive: true })
    compile[name]()
  }
  return existing(name)
}

function existing(name) {
  const ours = join(built, name)
  if (existsSync(ours)) return ours
  return !OURS.includes(name) && answers(name, '--version') ? name : undefined
}

function answers(command, argument) {
  return spawnSync(command, [argument], { stdio: 'ignore' }).status === 0
}

function compileIn(folder, what, name) {
  const cwd = join(root, 'scripts', 'cluster', folder)
  run('go', ['build', '-trimpath', '-mod=readonly', '-o', join(built, name), what], { cwd })
}
