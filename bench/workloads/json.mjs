import { assertRows } from '../shapes.mjs'
import { oneByOne } from './calls.mjs'

/** Rows as UTF-8 JSON, ready to be sent: natively where the library can, else `all` + `JSON.stringify` + `Buffer.from`. */
export const json = {
  id: 'json-1k',
  title: 'rows → JSON bytes, 1,000 × 6',
  shapes: ['items', 'mixed'],
  rows: 1000,
  async prepare(session, shape) {
    const bytes = await session.jsonBytes?.(`SELECT * FROM ${shape}`)
    if (!bytes) return
    const first = await bytes()
    assertRows(shape, JSON.parse(Buffer.from(first).toString()), 1000)

    const { length } = first
    const check = (result) => {
      if (result.length !== length) throw new Error(`${result.length} bytes instead of ${length}`)
    }
    return { run: oneByOne(session, bytes, check) }
  },
}
