// The pages of the site in the order of its menu, and their addresses.

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesBelow, root } from '../scripts/lib/paths.mjs'

const inFolder = (folder, names) => names.map((name) => `${folder}/${name}.md`)

/** Paths from the root of the repository. */
export const sections = [
  {
    title: 'Start',
    files: [
      'README.md',
      ...inFolder('docs/start', ['node', 'next', 'fastify-react', 'hono-bun', 'electron']),
      'docs/cheat-sheet.md',
    ],
  },
  {
    title: 'Guide',
    files: inFolder('docs', [
      ...['using', 'transactions', 'migrations', 'http', 'errors', 'commits'],
      ...['durability', 'settings', 'processes'],
    ]),
  },
  { title: 'Live queries', files: inFolder('docs', ['live-queries', 'screens', 'sse', 'feeds']) },
  {
    title: 'Operations',
    files: inFolder('docs', [
      ...['deploying', 'environments', 'operations', 'many-files', 'encryption'],
      ...['litestream', 'cluster', 'profiling'],
    ]),
  },
  { title: 'Tools', files: inFolder('docs', ['command-line', 'studio']) },
  {
    title: 'Query builders',
    files: inFolder('docs/builders', [
      ...['kysely', 'drizzle', 'knex', 'prisma', 'libsql', 'sqlite3'],
      ...['libraries', 'adapters', 'overhead', 'suites'],
    ]),
  },
  { title: 'Porting', files: inFolder('docs', ['from-better-sqlite3', 'from-node-sqlite', 'from-sqlite3']) },
  {
    title: 'Reference',
    files: [
      ...inFolder('docs', ['api', 'GUARANTEES', 'performance', 'GLOSSARY']),
      ...['SECURITY.md', 'CHANGELOG.md'],
    ],
  },
  {
    title: 'How it works',
    files: [
      'ARCHITECTURE.md',
      ...inFolder('docs/design', [
        'threads',
        'log-and-locks',
        'quick-queries',
        'live-queries',
        'cluster',
        'entries',
      ]),
      ...['CONTRIBUTING.md', 'docs/testing.md', 'bench/README.md'],
    ],
  },
]

export const files = sections.flatMap((section) => section.files)

/** The file of a page on the site: `docs/using.md` → `using.md`, `README.md` → `index.md`. */
export function pageOf(file) {
  if (file === 'README.md') return 'index.md'
  return file.replace(/^docs\//, '').replace(/\/README\.md$/, '.md')
}

/** `docs/using.md` → `/using` */
export function addressOf(file) {
  return `/${pageOf(file)}`.replace(/\.md$/, '').replace(/^\/index$/, '/')
}

export function titleOf(file) {
  if (file === 'README.md') return 'Overview'
  return /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8'))[1].replaceAll('`', '')
}

/** Documents below docs/ that no section names. */
export function unlisted() {
  return filesBelow(join(root, 'docs'), /\.md$/)
    .map((path) => relative(root, path).replaceAll('\\', '/'))
    .filter((name) => !files.includes(name))
}

/** Folders without a page, which the generator need not look into. */
export function otherFolders() {
  const shown = files.map((file) => file.split('/')[0])
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [...folders.map(({ name }) => name).filter((name) => !shown.includes(name)), 'bench/*']
}
