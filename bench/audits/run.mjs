// The audits: `node bench/audits/run.mjs [--only id,…] [--markdown] [--json file] [--quick]`. See README.md.
import { onBenchNode } from '../on-node.mjs'

if (onBenchNode(import.meta.filename)) {
  const { main } = await import('./main.mjs')
  await main(process.argv.slice(2))
}
