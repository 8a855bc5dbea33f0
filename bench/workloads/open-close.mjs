import { copyFileSync } from 'node:fs'
import { loadPeer } from '../peers/index.mjs'
import { oneByOne } from './calls.mjs'
import { checkFirst, firstParams, firstQuery } from './first-query.mjs'
import { steps } from './steps.mjs'
import { makeTenTables } from './ten-tables.mjs'

/** A file of its own is opened: the one that the session holds open would not be new to its library. */
export const openClose = {
  id: 'open-close',
  version: 'v1',
  group: 'lifecycle',
  title: 'open a database of 10 tables, one query, close',
  shapes: ['tables'],
  fewer: true,
  seed: makeTenTables,
  async prepare(session, _shape, owner, { file }) {
    const peer = await loadPeer(owner)
    const reopened = `${file}-reopened.db`
    copyFileSync(file, reopened)
    const once = steps(session, function* () {
      const opened = yield peer.open(reopened, { synchronous: 'NORMAL' })
      const statement = yield opened.prepare(firstQuery)
      checkFirst(yield statement.all(firstParams))
      yield opened.close()
    })
    return { run: oneByOne(session, once) }
  },
}
