// Two builds of resqlite against each other: `node ab/run.mjs <baseline> <candidate> [options]`.
import { onBenchNode } from '../on-node.mjs'

if (onBenchNode(import.meta.filename)) {
  const { main } = await import('./main.mjs')
  process.exitCode = await main(process.argv.slice(2))
}
