import { createHash } from 'node:crypto'
import { Database } from 'resqlite'

/**
 * Compares what was told of the ballots with what is in the files of the nodes, which are closed.
 *
 * @param {Map<string, 'done' | 'not done' | 'unknown'>} outcomes what became of each ballot
 * @param {string[]} files one for each node
 */
export async function judge(outcomes, files) {
  const nodes = []
  for (const file of files) nodes.push(await read(file))
  const [{ ballots }] = nodes
  const of = (wanted) => [...outcomes].flatMap(([ballot, outcome]) => (outcome === wanted ? ballot : []))
  const found = {
    acknowledged: of('done').length,
    lost: of('done').filter((ballot) => !ballots.has(ballot)).length,
    twice: [...ballots.values()].filter((count) => count > 1).length,
    refused: of('not done').length,
    refusedAndThere: of('not done').filter((ballot) => ballots.has(ballot)).length,
    unknown: of('unknown').length,
    unknownAndThere: of('unknown').filter((ballot) => ballots.has(ballot)).length,
    position: nodes[0].position,
    rows: nodes[0].rows,
    damaged: nodes.filter(({ integrity }) => integrity !== 'ok').length,
    areEqual: nodes.every(({ digest, schema }) => digest === nodes[0].digest && schema === nodes[0].schema),
  }
  const faults = [found.lost, found.twice, found.refusedAndThere, found.damaged]
  return { ...found, isGood: found.areEqual && faults.every((count) => count === 0) }
}

/** All that a file has: its own tables, and those in which the node keeps its position. */
async function read(file) {
  const db = await Database.open(file, { readOnly: true })
  try {
    return await db.snapshot(async (snapshot) => {
      const objects = await snapshot.select(
        'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name',
      )
      const { digest, rows } = await digestOf(snapshot, objects)
      const counts = await snapshot.select('SELECT ballot, count(*) AS times FROM ballots GROUP BY ballot')
      const { integrity_check: integrity } = await snapshot.selectOne('PRAGMA integrity_check')
      const { position } = await snapshot.selectOne(
        'SELECT max(position) AS position FROM _resqlite_position',
      )
      const ballots = new Map(counts.map(({ ballot, times }) => [ballot, times]))
      return { ballots, digest, rows, integrity, position, schema: JSON.stringify(objects) }
    })
  } finally {
    await db.close()
  }
}

/** Of every column of every row; with rowids, where a table has them. */
async function digestOf(snapshot, objects) {
  const hash = createHash('sha256')
  let rows = 0
  for (const { name } of objects.filter(({ type }) => type === 'table')) {
    const { wr: hasNoRowids } = await snapshot.selectOne('SELECT wr FROM pragma_table_list(?)', [name])
    const columns = hasNoRowids ? '*' : 'rowid, *'
    hash.update(`${name}\n`)
    hash.update(await snapshot.selectBytes(`SELECT ${columns} FROM "${name}" ORDER BY 1`))
    rows += (await snapshot.selectOne(`SELECT count(*) AS count FROM "${name}"`)).count
  }
  return { digest: hash.digest('hex'), rows }
}
