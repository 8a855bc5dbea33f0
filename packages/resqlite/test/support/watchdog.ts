import type { TestContext } from 'node:test'
import type { Database, Diagnostics, SessionHolder } from 'resqlite'

/** Milliseconds after which a test counts as stuck. No test takes half as long on a slow machine. */
const STUCK_AFTER = Number(process.env.RESQLITE_STUCK_AFTER ?? 180) * 1000
/** Milliseconds that a stuck test may take to clean up. */
const CLEANUP = 10_000

const guarded = new WeakMap<TestContext, Set<Database>>()

/** Includes a database in the report that is printed if the test gets stuck. */
export function guard(t: TestContext, db: Database): void {
  const known = guarded.get(t)
  if (known !== undefined) {
    known.add(db)
    return
  }
  const databases = new Set([db])
  guarded.set(t, databases)
  const timer = setTimeout(() => void fail(t.name, databases), STUCK_AFTER).unref()
  t.after(() => clearTimeout(timer))
}

/** Fails the test or, if that does not end it, the process. */
async function fail(name: string, databases: Iterable<Database>): Promise<void> {
  setTimeout(() => process.exit(1), CLEANUP).unref()
  const message = `"${name}" is stuck:\n${await whoWaits(databases)}`
  console.error(message)
  setImmediate(() => {
    throw new Error(message)
  })
}

/** Reports, line by line, what holds threads and how many requests wait for them. */
export async function whoWaits(databases: Iterable<Database>): Promise<string> {
  const told = await Promise.all(
    [...databases].map(async (db) =>
      db.open ? describe(await db.diagnostics()) : [`${db.path}: closed or closing`],
    ),
  )
  return told.flat().join('\n')
}

function describe({ path, handles, readers, leases, writer, streams }: Diagnostics): string[] {
  const holders = leases.holders.map((holder) => `${holder.kind} ${held(holder)} ${holder.sql ?? ''}`)
  return [
    `${path}: ${handles} objects`,
    `  writer: ${writer.queued} wait; held by ${writer.transaction ? `a transaction ${held(writer.transaction)}` : 'no transaction'}`,
    `  leases: ${leases.queued} wait; ${leases.open} open`,
    ...holders.map((holder) => `    ${holder.trimEnd()}`),
    `  readers: ${readers.queued} wait; ${readers.busy} of ${readers.max} at work`,
    `  live queries: ${streams.open} open, ${streams.running} run, ${streams.queued} wait`,
  ]
}

function held({ since, idle }: SessionHolder): string {
  return `for ${Date.now() - since} ms, ${idle ? 'waits for its caller' : 'at work'}`
}
