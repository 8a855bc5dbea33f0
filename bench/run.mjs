// The benchmark: `node run.mjs [--quick] [--only id,…] [--peers a,b] [--rounds n] [--json file]`. See README.md.
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const node = fileURLToPath(new URL('./node_modules/node/bin/node', import.meta.url))
if (!existsSync(node)) throw new Error('run `npm ci` in the bench folder first')

// Everything runs on the Node.js that the lock file names, whichever one this was started with.
if (realpathSync(process.execPath) === realpathSync(node) && globalThis.gc) {
  const { main } = await import('./main.mjs')
  await main(process.argv.slice(2))
} else {
  const { status, signal } = spawnSync(
    node,
    ['--expose-gc', ...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    { stdio: 'inherit' },
  )
  process.exitCode = signal ? 1 : status
}
