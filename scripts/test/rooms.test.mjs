import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { cruise } from 'dependency-cruiser'
import config, { cliFolders, cliSource, folders, source } from '../../.dependency-cruiser.mjs'

const first = folders[0]
const last = folders.at(-1)
let temporary

before(() => {
  // The folder of temporary files may lie below a link, which dependency-cruiser follows.
  temporary = realpathSync(mkdtempSync(join(tmpdir(), 'rooms-')))
})

after(() => rmSync(temporary, { recursive: true }))

/** Checks a package with these files. Returns the errors in one line, with paths relative to the package. */
async function check(files, inside) {
  const cwd = mkdtempSync(join(temporary, 'package-'))
  for (const [name, text] of Object.entries(files)) {
    const path = join(cwd, inside, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const { forbidden, options } = config
  const rules = { ...options, ruleSet: { forbidden }, validate: true }
  const { output, exitCode } = await cruise([inside], { ...rules, baseDir: cwd, outputType: 'err' })
  const errors = stripVTControlCharacters(output).replaceAll(`${inside}/`, '').replace(/\s+/g, ' ')
  return { passes: exitCode === 0, errors }
}

async function assertError(files, error, inside = source) {
  const { passes, errors } = await check(files, inside)
  assert.match(errors, error)
  assert.equal(passes, false)
}

describe('the rules of .dependency-cruiser.mjs', () => {
  test('passes if files and folders import each other one way only', async () => {
    const files = {
      'index.ts': `import { b } from './${last}/b'\nexport const c = b`,
      [`${last}/b.ts`]: `import { a } from '../${first}/a'\nexport const b = a`,
      [`${first}/a.ts`]: `export const a = 1`,
    }
    const { passes, errors } = await check(files, source)
    assert.equal(passes, true, errors)
  })

  test('finds a cycle', async () => {
    const files = {
      'a.ts': `import { b } from './b'\nexport const a = () => b`,
      'b.ts': `import { a } from './a'\nexport const b = () => a`,
    }
    await assertError(files, /error cycle: (a\.ts → b\.ts → a\.ts|b\.ts → a\.ts → b\.ts) /)
  })

  test('finds a cycle of types', async () => {
    const files = {
      'a.ts': `import type { B } from './b'\nexport interface A { b: B }`,
      'b.ts': `export interface B { a: import('./a').A }`,
    }
    await assertError(files, /error cycle: (a\.ts → b\.ts → a\.ts|b\.ts → a\.ts → b\.ts) /)
  })

  test('finds a cycle through a file that re-exports', async () => {
    const files = {
      'a.ts': `import { b } from './all'\nexport const a = () => b`,
      'all.ts': `export * from './b'`,
      'b.ts': `import type { a } from './a'\nexport const b = (it: typeof a) => it`,
    }
    await assertError(files, /error cycle: .*a\.ts → all\.ts → b\.ts/)
  })

  test('finds a folder that imports from a later one', async () => {
    const files = {
      [`${first}/a.ts`]: `import type { B } from '../${last}/b'\nexport type A = B`,
      [`${last}/b.ts`]: `export type B = number`,
    }
    await assertError(files, new RegExp(`error ${first}-uses-later-folder: ${first}/a\\.ts → ${last}/b\\.ts`))
  })

  test('finds a folder that imports from a file beside the folders', async () => {
    const files = {
      [`${last}/a.ts`]: `import { b } from '../b'\nexport const a = b`,
      'b.ts': `export const b = 1`,
    }
    await assertError(files, new RegExp(`error ${last}-uses-later-folder: ${last}/a\\.ts → b\\.ts`))
  })

  test('finds a folder that has no place in the order', async () => {
    const files = {
      'stray/a.ts': `import { b } from '../b'\nexport const a = b`,
      'b.ts': `export const b = 1`,
    }
    await assertError(files, /error unknown-folder: stray\/a\.ts → b\.ts/)
  })

  test('finds the same in the command line, whose imports end in .js', async () => {
    const [first, last] = [cliFolders[0], cliFolders.at(-1)]
    const files = {
      [`${first}/a.ts`]: `import type { B } from '../${last}/b.js'\nexport type A = B`,
      [`${last}/b.ts`]: `export type B = number`,
    }
    const error = new RegExp(`error ${first}-uses-later-folder: ${first}/a\\.ts → ${last}/b\\.ts`)
    await assertError(files, error, cliSource)
  })
})
