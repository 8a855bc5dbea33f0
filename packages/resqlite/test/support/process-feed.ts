import type { Tools } from './process-tools'

/** Commits rows as fast as it can, with rollbacks and nested transactions in between, until it is killed. */
export async function writeRows({ Database, say }: Tools, file: string) {
  const db = await Database.open(file)
  const insert = 'INSERT INTO t(v) VALUES (?)'
  say('open')
  for (let turn = 0; ; turn++) {
    const undone = async (tx: { execute(sql: string, params: unknown[]): Promise<unknown> }) => {
      await tx.execute(insert, ['undone'])
      throw new Error('undone')
    }
    await Promise.all([
      db.execute(insert, [`single ${turn}`]),
      db.executeBatch(insert, [[`a ${turn}`], [`b ${turn}`]]),
      db.transaction(undone).catch(() => {}),
      db.transaction(async (tx) => {
        await tx.transaction(undone).catch(() => {})
        await tx.execute('UPDATE t SET v = ? WHERE id = (SELECT max(id) FROM t)', [`changed ${turn}`])
        await tx.execute('DELETE FROM t WHERE id = (SELECT min(id) FROM t) AND id % 3 = 0')
      }),
    ])
  }
}

/** Prints each commit of the feed before it asks for the next one, until it is killed. */
export async function consume({ Database, say }: Tools, file: string) {
  const db = await Database.open(file)
  for await (const { position, gap, operations } of db.feed('killed')) {
    const rows = operations.map((change) => {
      return change.operation === 'schema' ? change : [change.operation, change.key.id, change.new?.v ?? null]
    })
    say(JSON.stringify({ position, gap, rows }))
  }
}
