// node scripts/test-orms.mjs: the examples in examples/orm/sqlite3, as a user would run them who has copied the folder. What they need
// comes from the registry; resqlite and @resqlite/sqlite3 are packed from here.

import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { inProject, packMain, packPlatform, packSqlite3 } from './lib/packed.mjs'
import { root } from './lib/paths.mjs'
import { CommandFailed, capture, npm, runAsProgram } from './lib/process.mjs'

const printed = {
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
}

await runAsProgram(import.meta.url, () =>
  inProject((project) => {
    cpSync(join(root, 'examples', 'orm', 'sqlite3'), project, { recursive: true })
    const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    Object.assign(manifest.dependencies, {
      resqlite: `file:${packMain(project)}`,
      sqlite3: `file:${packSqlite3(project)}`,
    })
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
    const how = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    npm(['install', ...how, `./${packPlatform(project)}`], { cwd: project })
    for (const [file, expected] of Object.entries(printed)) {
      const output = capture(process.execPath, [file], { cwd: project }).trim().split('\n')
      if (!isDeepStrictEqual(output, expected))
        throw new CommandFailed(`${file} printed:\n${output.join('\n')}`)
      console.log(`${file}: ran`)
    }
  }),
)
