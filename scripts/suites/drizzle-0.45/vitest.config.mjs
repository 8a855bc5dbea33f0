// Runs Drizzle's tests for libsql. The parts that connect to servers are replaced, and on resqlite the client.

import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const tests = join(import.meta.dirname, 'integration-tests', 'tests')
const nothing = join(import.meta.dirname, 'adapt', 'nothing.mjs')
const onResqlite = process.env.SUITE_ON_RESQLITE !== undefined

export default defineConfig({
  test: { testTimeout: 60_000, fileParallelism: false },
  resolve: {
    alias: [
      { find: /^~\//, replacement: `${tests}/` },
      { find: /^dotenv\/config$/, replacement: nothing },
      { find: /^async-retry$/, replacement: join(import.meta.dirname, 'adapt', 'retry.mjs') },
      ...(onResqlite ? [{ find: /^@libsql\/client(\/\w+)?$/, replacement: 'resqlite/libsql' }] : []),
    ],
  },
})
