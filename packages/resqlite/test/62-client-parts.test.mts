import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { LeanPatch, Row } from 'resqlite'
import { fold } from 'resqlite/client'
import { eventParser, type ParsedEvent } from '../src/client/event-parser.mjs'
import { withKnownRows } from '../src/client/same-rows.mjs'
import { random } from './support/random.js'
import { tempDatabase } from './support/temp.js'

/** The most bytes that the client may take, bundled and compressed. */
const MOST_BYTES = 3 * 1024

const parsed = (pieces: readonly string[]): ParsedEvent[] => pieces.flatMap(eventParser())

const STREAM = [
  'retry: 1500\n\n',
  ': hello\n\n',
  'event: full\nid: a.1\ndata: {"x":"1: 2"}\n\n',
  'data:first\ndata: second\nunknown: field\n\n',
  'event: nothing\n\n',
  'id\nevent: patch\ndata\n\n',
]
const EVENTS = [
  { name: 'full', id: 'a.1', data: '{"x":"1: 2"}' },
  { name: '', id: '', data: 'first\nsecond' },
  { name: 'patch', id: '', data: '' },
]

for (const [which, end] of Object.entries({
  'a line feed': '\n',
  'both characters': '\r\n',
  'a carriage return': '\r',
})) {
  test(`events whose lines end with ${which} are read wherever they are cut`, () => {
    const text = `${STREAM.join('').replaceAll('\n', end)}:${end}`
    for (let first = 0; first < text.length; first++) {
      for (let second = first; second < text.length; second += 7) {
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)]
        assert.deepEqual(parsed(pieces), EVENTS)
      }
    }
  })
}

test('an event that is not complete is not read', () => {
  assert.deepEqual(parsed(['event: full\ndata: {}\n']), [])
})

test('fold leads from each result to the next, and keeps the rows that did not change', async (t) => {
  const { seed, int, pick } = random()
  const db = await tempDatabase(t, 'CREATE TABLE t(id INTEGER PRIMARY KEY, place REAL, v)')
  const sql = 'SELECT id, v FROM t ORDER BY place, id'
  const changes = db.stream(sql).patches({ key: 'id', rows: false })
  let rows: readonly Row[] = fold<Row>([], (await changes.next()).value as LeanPatch)
  let last = 0
  const write = [
    () => db.execute('INSERT OR REPLACE INTO t VALUES (?, ?, ?)', [int(30), int(12), ++last]),
    () => db.execute('DELETE FROM t WHERE id = ?', [int(30)]),
    () => db.execute('UPDATE t SET place = ?, v = ? WHERE id = ?', [int(12), ++last, int(30)]),
    () => db.execute('UPDATE t SET place = 12 - place WHERE id % 2'),
  ]
  for (let round = 0; round < 100; round++) {
    for (let i = int(3); i >= 0; i--) await pick(write)()
    const expected = await db.select(sql)
    while (JSON.stringify(rows) !== JSON.stringify(expected)) {
      const before = new Map(rows.map((row) => [JSON.stringify(row), row]))
      rows = fold(rows, (await changes.next()).value as LeanPatch)
      for (const row of rows) {
        const known = before.get(JSON.stringify(row))
        assert.ok(known === undefined || known === row, `seed ${seed}, round ${round}`)
      }
    }
  }
  await changes.return()
})

const NOTHING = { added: [], removed: [], updated: [], moved: [] }

test('rows that differ where JSON.stringify sees no difference are not taken for the same', () => {
  const values = [null, 0, -0, Infinity, -Infinity, 0n, '0', 'Infinity']
  for (const value of values) {
    const known = values.filter((other) => !Object.is(other, value)).map((other) => ({ value: other }))
    const row = { value }
    assert.equal(withKnownRows([row], known)[0], row)
    assert.equal(withKnownRows([{ value }], [row])[0], row)
  }
})

test('a patch that changes nothing leaves the array as it is', () => {
  const rows = [{ id: 1 }]
  assert.equal(fold(rows, NOTHING), rows)
})

const row = { id: 9 }
const misfits = {
  'adds a row behind the end': { ...NOTHING, added: [{ index: 3, row }] },
  'adds two rows at one place': {
    ...NOTHING,
    added: [
      { index: 1, row },
      { index: 1, row },
    ],
  },
  'removes a row that is not there': { ...NOTHING, removed: [{ index: 2 }] },
  'updates a row that is not there': { ...NOTHING, updated: [{ from: 2, index: 0, row }] },
  'moves a row that is not there': { ...NOTHING, moved: [{ from: 2, index: 0 }] },
}
for (const [which, patch] of Object.entries(misfits)) {
  // G162
  test(`a patch that ${which} is refused`, () => {
    assert.throws(() => fold([{ id: 1 }, { id: 2 }], patch), RangeError)
  })
}

// G164
test('the client is small, and uses nothing but what browsers have', async () => {
  const entry = join(fileURLToPath(new URL('../..', import.meta.url)), 'dist', 'client', 'index.mjs')
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    globalName: 'client',
    platform: 'browser',
    target: 'es2022',
  })
  const code = outputFiles[0]?.text ?? ''
  const bytes = gzipSync(code, { level: 9 }).length
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`)
  const requests: string[] = []
  const globals = {
    AbortController,
    TextDecoder,
    clearTimeout,
    queueMicrotask,
    setTimeout,
    fetch: (url: string, { signal }: RequestInit) => {
      requests.push(url)
      return new Promise((_, reject) => signal?.addEventListener('abort', reject))
    },
  }
  runInNewContext(`${code}; client.remoteQuery('/tasks').subscribe(() => {})()`, globals)
  assert.deepEqual(requests, ['/tasks'])
})
