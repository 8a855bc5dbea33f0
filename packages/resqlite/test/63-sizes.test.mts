import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** The most bytes that each subpath for pages may take, bundled without its framework and compressed. */
const MOST_BYTES = {
  react: 1280,
  vue: 1280,
  svelte: 1280,
  solid: 1280,
  'tanstack-db': 1536,
  'message-port': 1408,
}

for (const [name, most] of Object.entries(MOST_BYTES)) {
  // G178
  test(`resqlite/${name} takes less than ${most} bytes, and nothing that only Node.js has`, async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(import.meta.resolve(`resqlite/${name}`))],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      external: ['react', 'vue', 'solid-js'],
    })
    const bytes = gzipSync(outputFiles[0]?.text ?? '', { level: 9 }).length
    assert.ok(bytes < most, `${bytes} bytes`)
  })
}
