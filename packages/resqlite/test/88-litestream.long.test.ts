import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Database } from 'resqlite'
import { Child } from './support/process'
import { scriptText, type Tools } from './support/process-tools'
import { tempFolder } from './support/temp'

/** The program; `LITESTREAM` may name one that is not on the path. */
const litestream = process.env.LITESTREAM ?? 'litestream'
const isInstalled = spawnSync(litestream, ['version']).status === 0

/** Writes rows of about a page for ever, some at a time, and prints the number of each when it is acknowledged. */
async function writeForEver({ Database, say }: Tools, file: string) {
  const db = await Database.open(file, { checkpoints: 'manual' })
  let last = 0
  const worker = async () => {
    for (;;) {
      const id = ++last
      await db.execute('INSERT INTO t VALUES (?, randomblob(3000))', [id])
      say(id)
    }
  }
  await Promise.all([worker(), worker(), worker()])
}

class Replication {
  readonly url: string
  output = ''
  readonly #process: ChildProcess

  constructor(
    t: TestContext,
    file: string,
    readonly replica: string,
  ) {
    this.url = pathToFileURL(replica).href
    this.#process = spawn(litestream, ['replicate', file, this.url], { stdio: ['ignore', 'pipe', 'pipe'] })
    const hear = (text: Buffer) => {
      this.output += text
    }
    this.#process.stdout?.on('data', hear)
    this.#process.stderr?.on('data', hear)
    t.after(() => this.#process.kill('SIGKILL'))
  }

  /** The files that it has written so far. */
  get files(): number {
    if (!existsSync(this.replica)) return 0
    return readdirSync(this.replica, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    ).length
  }

  /** Ends it, after it has replicated the rest. */
  async end(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGINT')
    await ended
  }

  restore(path: string): void {
    const { status, stdout, stderr } = spawnSync(litestream, ['restore', '-o', path, this.url], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, `${stdout}${stderr}\n${this.output}`)
  }
}

async function rows(path: string): Promise<unknown[]> {
  const db = await Database.open(path, { checkpoints: 'manual' })
  try {
    assert.deepEqual(await db.select('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
    return await db.select('SELECT id, hex(x) AS x FROM t ORDER BY id')
  } finally {
    await db.close()
  }
}

// G241
test('Litestream replicates under load, and restores all that was acknowledged before a kill', {
  skip: isInstalled ? false : `${litestream} is not installed`,
}, async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'app.db')
  const db = await Database.open(file, { checkpoints: 'manual' })
  await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, x)')
  await db.close()
  const replication = new Replication(t, file, join(folder, 'replica'))
  const child = new Child(scriptText(writeForEver, [file]))
  t.after(() => child.kill())
  const acknowledged: number[] = []
  child.onLine = (line) => acknowledged.push(Number(line))
  // Some syncs, and more pages than it lets the log have before it makes a checkpoint.
  while (acknowledged.length < 3000 || replication.files < 4) await pause(20)
  child.kill()
  await child.ended
  await replication.end()
  const restored = join(folder, 'restored.db')
  replication.restore(restored)
  const found = await rows(restored)
  assert.deepEqual(found, await rows(file))
  const ids = new Set(found.map((row) => (row as { id: number }).id))
  assert.deepEqual(
    acknowledged.filter((id) => !ids.has(id)),
    [],
  )
  assert.doesNotMatch(replication.output, /level=ERROR|\bpanic\b/)
  const generations = join(folder, 'replica', 'generations')
  if (existsSync(generations)) assert.equal(readdirSync(generations).length, 1, 'it never had to start over')
})
