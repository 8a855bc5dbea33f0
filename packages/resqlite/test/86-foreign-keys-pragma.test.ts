import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignKeysPragma, scriptWithForeignKeysOff } from '../src/builders/foreign-keys-pragma'
import { tempDatabase } from './support/temp'

/** Values that switch foreign keys off or on, and some that look as if they did the other. */
const VALUES =
  `OFF on Off yes TRUE no false full extra 'on' "ON" [on] \`true\` 'a"b' 'it''s' 0 1 2 255 256 257 +1 -1 -0 1.5 .5
  0x1 0x100 0X01 2147483647 2147483648 99999999999 00001 1e0 '1' '0' '' NORMAL delete default x_1 \u00f6n`.split(
    /\s+/,
  )

/** Ways to write the same statement. `V` stands for the value. */
const FORMS = [
  'PRAGMA foreign_keys = V',
  'pragma foreign_keys=V;',
  'PrAgMa FOREIGN_KEYS(V)',
  'PRAGMA "foreign_keys" ( V ) ; ;',
  "PRAGMA 'foreign_keys' = V",
  'PRAGMA[foreign_keys]=V',
  'PRAGMA`foreign_keys`=V',
  'PRAGMA main.foreign_keys = V',
  'PRAGMA "main" . [Foreign_Keys](V)',
  'pragma temp.foreign_keys=V',
  ' \t\r\n\fPRAGMA\tforeign_keys\n=\rV\f',
  ';; PRAGMA foreign_keys = V',
  '-- off\nPRAGMA foreign_keys = V',
  '/* off; */PRAGMA/**/foreign_keys/***/=/*/ off */V/* not ended',
  '--\'\n/*"*/ PRAGMA foreign_keys -- = OFF\n = V -- the end',
  'PRAGMA foreign_keys = V; -- DELETE FROM t;',
  'PRAGMA foreign_keys = V;\n/* DELETE */ ; -- FROM t',
  '\ufeffPRAGMA foreign_keys = V',
]

// G285
test('PRAGMA foreign_keys is recognised in every spelling, with the meaning that SQLite gives it', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE seen(id INTEGER PRIMARY KEY, word)')
  const spellings = [
    ...FORMS.flatMap((form) => ['OFF', 'ON', 'no', "'1'"].map((value) => form.replace('V', value))),
    ...VALUES.map((value) => `PRAGMA foreign_keys = ${value}`),
    ...VALUES.map((value) => `PRAGMA foreign_keys(${value})`),
  ]
  assert.ok(spellings.length > 100)
  for (const [id, sql] of spellings.entries()) {
    // A comment that does not end would contain what follows.
    const ended = sql.endsWith('not ended') ? `${sql} */` : sql
    await db.exec(`PRAGMA foreign_keys = ${id % 2};\n${ended}\n;\n${insertState(id)}`)
  }
  const seen = await db.select<{ id: number; word: string }>('SELECT * FROM seen ORDER BY id')
  assert.deepEqual(
    spellings.map((sql) => [sql, foreignKeysPragma(sql)]),
    seen.map(({ id, word }) => [spellings[id], word]),
  )
})

const insertState = (id: number) =>
  `INSERT INTO seen SELECT ${id}, iif(foreign_keys, 'on', 'off') FROM pragma_foreign_keys`

test('a question for PRAGMA foreign_keys is recognised', () => {
  for (const sql of ['PRAGMA foreign_keys', ' pragma Foreign_Keys ; -- ?', 'PRAGMA main."foreign_keys"/*']) {
    assert.equal(foreignKeysPragma(sql), 'get', sql)
  }
})

// G285
test('a statement that is not only PRAGMA foreign_keys is left alone', () => {
  for (const sql of [
    '',
    ';',
    '-- PRAGMA foreign_keys = OFF',
    '/* PRAGMA foreign_keys = OFF */ DELETE FROM t',
    '-- PRAGMA foreign_keys = OFF\nDELETE FROM t',
    "SELECT 'PRAGMA foreign_keys = OFF'",
    'PRAGMA foreign_keys = OFF; DELETE FROM t',
    'PRAGMA foreign_keys = OFF -- one\n; /* two */ DELETE FROM t',
    'PRAGMA foreign_keys; DELETE FROM t',
    'DELETE FROM t; PRAGMA foreign_keys = OFF',
    'EXPLAIN PRAGMA foreign_keys = OFF',
    'PRAGMA foreign_key_list(t)',
    'PRAGMA foreign_keys_ = OFF',
    'PRAGMAforeign_keys = OFF',
    'PRAGMA "foreign_keys = OFF',
    'PRAGMA other.foreign_keys = OFF',
    'PRAGMA foreign_keys.main = OFF',
    'PRAGMA foreign_keys =',
    'PRAGMA foreign_keys = ?',
    'PRAGMA foreign_keys = - OFF',
    'PRAGMA foreign_keys = 1x',
    'PRAGMA foreign_keys = 1_0',
    'PRAGMA foreign_keys = OFF OFF',
    'PRAGMA foreign_keys(OFF',
    'PRAGMA foreign_keys OFF',
    'PRAGMA foreign_keys\u00a0= OFF',
  ]) {
    assert.equal(foreignKeysPragma(sql), undefined, sql)
  }
})

// G285
test('long comments are read once', () => {
  // A reading that goes back over them would not end within a lifetime.
  for (const comment of ['/**/', '/* - * / */ ', '-- */\n', ' ', ';', '-', '/*/', '(', "'", '"" ']) {
    const long = comment.repeat(100_000 / comment.length)
    for (const sql of [`${long}PRAGMA foreign_keys = OFF`, `PRAGMA${long}foreign_keys = OFF${long}x`]) {
      foreignKeysPragma(sql)
      scriptWithForeignKeysOff(sql)
    }
  }
  const comments = '/* a */ -- b\n'.repeat(8_000)
  assert.equal(
    foreignKeysPragma(`${comments}PRAGMA${comments}foreign_keys${comments}=${comments}0${comments}`),
    'off',
  )
  assert.equal(foreignKeysPragma(`${comments}DELETE FROM t`), undefined)
})

// G285
test('a script is left without the PRAGMAs that switch foreign keys, and with everything else', () => {
  const rest = [
    "INSERT INTO t VALUES ('\nPRAGMA foreign_keys=OFF;\n')",
    'CREATE TRIGGER r /*\nPRAGMA foreign_keys=OFF;\n*/ AFTER INSERT ON t BEGIN DELETE FROM u; END',
    'CREATE TABLE "a;\nPRAGMA foreign_keys=OFF;"(x)',
    'PRAGMA foreign_keys',
    'SELECT 1 -- ; PRAGMA foreign_keys=OFF;\n',
  ]
  const switches = [
    'PRAGMA foreign_keys = OFF',
    'pragma foreign_keys(on)',
    'PRAGMA main.foreign_keys=1',
    'PRAGMA foreign_keys=no',
  ]
  const script = rest.flatMap((sql, i) => [sql, switches[i % 4]]).join(';\n')
  assert.equal(scriptWithForeignKeysOff(script), `${rest.join(';\n')};\n`)
  assert.equal(scriptWithForeignKeysOff(`${rest.join(';\n')};\nPRAGMA foreign_keys = ON;`), undefined)
  assert.equal(scriptWithForeignKeysOff(rest.join(';\n')), undefined)
})
