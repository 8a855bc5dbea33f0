import { join, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

const packages = resolve(import.meta.dirname, '..', 'packages')
const source = (name) => ({ find: `@tanstack/${name}`, replacement: join(packages, name, 'src') })
const driver = { find: /^.*\/node-driver$/, replacement: join(import.meta.dirname, 'node-driver.mjs') }

export default defineConfig({
  resolve: {
    alias: [
      ...['db-sqlite-persistence-core', 'db-ivm', 'db'].map(source),
      ...(process.env.SUITE_ON_RESQLITE ? [driver] : []),
    ],
  },
  test: {
    include: ['tests/**/*.test.ts', 'e2e/**/*.e2e.test.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    environment: 'jsdom',
  },
})
