import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const node = fileURLToPath(new URL('./node_modules/node/bin/node', import.meta.url))

/**
 * True when this process is the Node.js of node_modules with `--expose-gc`. Else starts the script again with that one, the same options and
 * arguments, and `env` on top; waits for it, takes over its exit code, and returns false.
 */
export function onBenchNode(script, env = {}) {
  if (!existsSync(node)) throw new Error('run `npm ci` in the bench folder first')
  const isSet = Object.entries(env).every(([name, value]) => process.env[name] === value)
  if (realpathSync(process.execPath) === realpathSync(node) && globalThis.gc && isSet) return true
  const { status, signal } = spawnSync(
    node,
    ['--expose-gc', ...process.execArgv, script, ...process.argv.slice(2)],
    { stdio: 'inherit', env: { ...process.env, ...env } },
  )
  process.exitCode = signal ? 1 : status
  return false
}
