// node scripts/test-orms.mjs [folder …]: the examples in the folders of examples/orm, as a user would run them who has copied a
// folder. What they need comes from the registry; resqlite and what stands beside it are packed from here.

import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { inProject, packLibsql, packMain, packPlatform, packSqlite3 } from './lib/packed.mjs'
import { root } from './lib/paths.mjs'
import { CommandFailed, capture, npm, runAsProgram } from './lib/process.mjs'

/** The output of the programs of each folder. */
const printed = {
  sqlite3: {
    'sequelize.js': [
      'live: null in stock',
      'live: 5 in stock',
      'true SQLITE_CONSTRAINT 19',
      'SequelizeValidationError',
      '2 left, 3 orders of 1970-01-01',
      '0 orders',
    ],
    'typeorm.js': [
      'SQLITE_CONSTRAINT 19',
      'not this one',
      'Ada: Notes, 1970-01-01T00:00:00.000Z',
      'Ada: Sketch, never lent',
      '22 books',
    ],
    'keyv.js': [`{ name: 'Ada', tags: [ '"quoted"' ] }`, 'undefined true', 'true undefined'],
    'umzug.js': [
      '1-readers, 2-since',
      'Migration 3-broken (up) failed: Original error: SQLITE_ERROR: no such table: nowhere',
      'left: 3-broken',
      "[ 'id', 'name', 'since' ]",
      '2-since',
      "[ 'id', 'name' ]",
    ],
    'sessions.js': [
      'live: nobody',
      'visit 1',
      'live: 1',
      'visit 2',
      'live: 2',
      'visit 1',
      'live: 2, 1',
      'bye',
      'live: 1',
    ],
  },
  builders: {
    'better-auth.js': [
      'live: nobody',
      'sign up: 200',
      'live: Ada 1',
      'again: 422',
      'live: Ada 1, Grace 1',
      'live: Ada 2, Grace 1',
      'wrong password: 401',
      'session: ada@example.org',
      'live: Ada 1, Grace 1',
      'session: null',
    ],
    'objection.js': [
      'live: nothing to do',
      'live: Mill, Store to do',
      'true SQLITE_CONSTRAINT_UNIQUE',
      'ValidationError',
      'live: Barrel, Store to do',
      'not this one',
      'live: Printer to do',
      "[ 'brass', 'steel' ] [ 'Mill: done', 'Printer: to do' ]",
      '2',
      'live: nothing to do',
    ],
    'auth-js.js': [
      'live: nobody',
      'live: ada@example.org',
      'live: ada@example.org, grace@example.org',
      'session: ada@example.org',
      'refused: Verification',
      'live: grace@example.org',
      'session: null',
    ],
    'node_modules/kysely-ctl/dist/bin.mjs migrate latest --no-outdated-check': [
      '[start] Starting migration to latest',
      '[success] Migration complete',
      '[info] Ran 1 migration:',
      '[log] [✓] 2026-01-readers',
    ],
  },
  libsql: {
    'payload.js': [
      'live: nothing',
      'ValidationError name',
      'live: Notes',
      "Notes by Ada [ 'engines', 'numbers' ]",
      '2 versions',
      'ada@example.org',
    ],
  },
}

/** The packages of the folders that come from here. */
const packs = { resqlite: packMain, sqlite3: packSqlite3, '@libsql/client': packLibsql }

await runAsProgram(import.meta.url, async (folders) => {
  for (const folder of folders.length > 0 ? folders : Object.keys(printed)) await test(folder)
})

function test(folder) {
  return inProject((project) => {
    cpSync(join(root, 'examples', 'orm', folder), project, { recursive: true })
    const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    for (const [name, pack] of Object.entries(packs))
      if (name in manifest.dependencies) manifest.dependencies[name] = `file:${pack(project)}`
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
    const how = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    npm(['install', ...how, `./${packPlatform(project)}`], { cwd: project })
    for (const [program, expected] of Object.entries(printed[folder])) {
      const options = { cwd: project, env: { CI: '1' } } // without colours and movement
      const output = capture(process.execPath, program.split(' '), options).trim().split('\n')
      const told = output.filter((line) => !line.includes('Pulling schema'))
      if (!isDeepStrictEqual(told, expected))
        throw new CommandFailed(`${folder}: ${program} printed:\n${told.join('\n')}`)
      console.log(`${folder}: ${program} ran`)
    }
  })
}
