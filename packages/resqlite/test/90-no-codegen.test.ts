import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChild } from './support/child'

test('it works where code must not be generated', () => {
  const script = `
    const { Database } = require('resqlite')
    let allowed = true
    try { new Function('return 1')() } catch { allowed = false }
    async function main() {
      const db = await Database.open(':memory:')
      await db.exec('CREATE TABLE t(a, b, "__proto__")')
      await db.executeBatch('INSERT INTO t VALUES (?, ?, ?)', [[1, 'x', 0.5], [null, 2n ** 60n, Buffer.from('é')]])
      const rows = await db.select('SELECT * FROM t')
      const arrays = await db.select('SELECT * FROM t', [], { arrays: true })
      await db.close()
      const shown = rows.map((row) => Object.entries(row).map(([k, v]) => k + '=' + v).join())
      console.log(JSON.stringify({ allowed, shown, arrays: arrays.map(String) }))
    }
    main()`
  assert.deepEqual(JSON.parse(runChild(script, ['--disallow-code-generation-from-strings'])), {
    allowed: false,
    shown: ['a=1,b=x,__proto__=0.5', 'a=null,b=1152921504606846976,__proto__=é'],
    arrays: ['1,x,0.5', ',1152921504606846976,é'],
  })
})
