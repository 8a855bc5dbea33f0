import { oneByOne } from './calls.mjs'
import { expectSame, scalar } from './expect.mjs'
import { makeFile, numbered } from './file.mjs'
import { schemaT } from './t.mjs'

const count = 10_000

/** One statement that changes every row. */
export const update = {
  id: 'update-10k',
  version: 'v1',
  group: 'writes',
  title: 'update of all of 10,000 rows',
  shapes: ['t'],
  seed: (file) => makeFile(file, schemaT, { t: numbered(count, (id) => [id, `name of row ${id}`, 0]) }),
  async prepare(session) {
    const statement = await session.prepare('UPDATE t SET value = value + 1')
    return {
      run: oneByOne(session, () => statement.run([])),
      most: 100,
      async reset() {
        await session.exec('UPDATE t SET value = 0')
        await session.pragma('wal_checkpoint(TRUNCATE)')
      },
      async verify(ops) {
        expectSame('sum of values', await scalar(session, 'SELECT sum(value) FROM t'), ops * count)
      },
    }
  },
}
