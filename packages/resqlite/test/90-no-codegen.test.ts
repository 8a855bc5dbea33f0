import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWith } from './support/process'
import type { Tools } from './support/process-tools'

async function main({ Database, say }: Tools) {
  let generates = true
  try {
    new Function('return 1')()
  } catch {
    generates = false
  }
  const db = await Database.open(':memory:')
  await db.exec('CREATE TABLE t(a, b, "__proto__")')
  await db.executeBatch('INSERT INTO t VALUES (?, ?, ?)', [
    [1, 'x', 0.5],
    [null, 2n ** 60n, Buffer.from('é')],
  ])
  const rows = await db.select('SELECT * FROM t')
  for (const row of rows)
    say(
      Object.entries(row)
        .map(([name, value]) => `${name}=${value}`)
        .join(),
    )
  for (const row of await db.select('SELECT * FROM t', [], { arrays: true })) say(String(row))
  await db.close()
  say(`generates code: ${generates}`)
}

const rows = ['a=1,b=x,__proto__=0.5', 'a=null,b=1152921504606846976,__proto__=é']
const arrays = ['1,x,0.5', ',1152921504606846976,é']

// G94
test('it works where code must not be generated', async (t) => {
  const child = startWith(t, ['--disallow-code-generation-from-strings'], main)
  assert.deepEqual(await child.output(), [...rows, ...arrays, 'generates code: false'])
})

test('it works without a compiler in the JavaScript engine', async (t) => {
  const { code, lines } = await startWith(t, ['--jitless'], main).ended
  assert.equal(code, 0)
  assert.deepEqual(lines, [...rows, ...arrays, 'generates code: true'])
})
