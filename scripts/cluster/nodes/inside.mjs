// Runs a program in namespaces of its own: its network can be cut and its mounts made and forgotten, no other program
// notices, and with it end all processes that it has started. Root is not needed where the kernel gives namespaces to all.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

const MARK = 'RESQLITE_INSIDE'
const NAMESPACES = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']

export const isInside = process.env[MARK] === '1'

/** Why this machine gives no namespaces; undefined if it does. */
export function whyNoNamespaces() {
  if (process.platform !== 'linux') return 'only Linux has network namespaces'
  const tried = spawnSync('unshare', [...unshareArguments(), 'ip', 'rule'], { encoding: 'utf8' })
  if (tried.status === 0) return undefined
  return tried.stderr?.trim() || 'unshare and ip (util-linux, iproute2) are not here'
}

/** Runs the program again, inside; returns its exit code. */
export async function runInside(program, args) {
  const command = [...unshareArguments(), process.execPath, program, ...args]
  const inside = spawn('unshare', command, { stdio: 'inherit', env: { ...process.env, [MARK]: '1' } })
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => inside.kill('SIGKILL'))
  const [code] = await once(inside, 'exit')
  return code ?? 1
}

function unshareArguments() {
  return process.getuid() === 0 ? NAMESPACES : ['--map-root-user', ...NAMESPACES]
}
