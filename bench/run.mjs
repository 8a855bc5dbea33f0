// The benchmark: `node run.mjs [options]`, see README.md. Everything runs on the Node.js that the lock file names.
import { onBenchNode } from './on-node.mjs'

if (onBenchNode(import.meta.filename)) {
  const { main } = await import('./main.mjs')
  await main(process.argv.slice(2))
}
