import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { numbers } from '../../../scripts/lib/random.mjs'
import { painter } from '../dist/terminal/style.js'
import { Table } from '../dist/terminal/table.js'
import { visible, visibleLines } from '../dist/terminal/visible.js'
import { cut, widthOf } from '../dist/terminal/width.js'
import { bytesText, durationText } from '../dist/terminal/words.js'

const plain = (text) => text

describe('text on a terminal', () => {
  test('shows control characters instead of sending them', () => {
    assert.equal(visible('a\x1b[31mb\x07\r\n\t\x7f\x9b2J'), 'a\\x1b[31mb\\x07\\r\\n\\t\\x7f\\x9b2J')
  })

  test('shows marks that turn the direction of text, and halves of pairs', () => {
    assert.equal(visible('a\u202eb\u2066\u2028\ud800'), 'a\\u202eb\\u2066\\u2028\\ud800')
  })

  test('keeps what scripts and emoji need', () => {
    for (const text of ['Zürich', '東京', '👩‍👩‍👧', 'e\u0301', 'می‌خواهم']) assert.equal(visible(text), text)
  })

  test('keeps line ends where text has lines', () => {
    assert.equal(visibleLines('a\nb\x1bc'), 'a\nb\\x1bc')
  })

  test('is as wide as its characters', () => {
    const widths = { abc: 3, Zürich: 6, 東京: 4, '👩‍👩‍👧': 2, '🫠': 2, 'e\u0301': 1 }
    for (const [text, width] of Object.entries(widths)) assert.equal(widthOf(text), width, text)
  })

  test('is cut between characters, and never wider than asked', () => {
    assert.equal(cut('東京都', 4), '東…')
    assert.equal(cut('東京都', 6), '東京都')
    assert.equal(cut('abc', 2), 'a…')
    for (let seed = 1; seed <= 200; seed++) {
      const random = numbers(seed)
      const parts = ['a', '東', '👩‍👩‍👧', 'e\u0301', ' ', '🫠']
      const text = Array.from({ length: random(30) }, () => parts[random(parts.length)]).join('')
      const width = 1 + random(20)
      const short = cut(text, width)
      assert.ok(widthOf(short) <= width, `seed ${seed}`)
      assert.equal(short === text, widthOf(text) <= width, `seed ${seed}`)
    }
  })
})

describe('a table', () => {
  test('has a column for each name, with numbers on the right', () => {
    const rows = [
      [1n, 'Ada'],
      [20n, null],
    ]
    const table = new Table(['id', 'name'], rows, 80, plain)
    assert.deepEqual(
      [...table.head(), ...rows.map((row) => table.row(row))],
      ['id │ name', '───┼─────', ' 1 │ Ada', '20 │ NULL'],
    )
  })

  test('is aligned where characters are wide', () => {
    const rows = [
      ['東京', 1n],
      ['Oslo', 2n],
    ]
    const table = new Table(['city', 'n'], rows, 80, plain)
    assert.deepEqual(
      rows.map((row) => table.row(row)),
      ['東京 │ 1', 'Oslo │ 2'],
    )
  })

  test('is never wider than the terminal', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = numbers(seed)
      const names = Array.from({ length: 1 + random(12) }, () => '名n'.repeat(1 + random(10)))
      const rows = [names.map(() => 'x'.repeat(random(60)))]
      const space = 10 + random(100)
      const table = new Table(names, rows, space, plain)
      for (const line of [...table.head(), table.row(rows[0])]) {
        assert.ok(widthOf(line) <= space, `seed ${seed}: ${widthOf(line)} of ${space}`)
      }
    }
  })

  // G360
  test('takes a line of at least one column, whatever the terminal says', () => {
    for (const space of [0, -1, 1])
      assert.equal(new Table(['a', 'b'], [[1n, 2n]], space, plain).row([1n, 2n]), '1')
  })

  test('leaves out the last columns rather than to make all unreadable', () => {
    const names = Array.from({ length: 20 }, (_, n) => `a column ${n}`)
    assert.equal(new Table(names, [], 80, plain).hidden, 13)
  })

  test('cuts texts, but never a number', () => {
    const rows = [[12345678901234567890n, 'a text that is too long', 6896.142857142857]]
    const table = new Table(['id', 'text', 'mean'], rows, 52, plain)
    assert.equal(table.row(rows[0]), '12345678901234567890 │ a text t… │ 6896.142857142857')
  })

  test('fills cells up only to a bounded width if there is no terminal', () => {
    const rows = [
      ['x'.repeat(10_000), 'a'],
      ['y', 'b'],
    ]
    const table = new Table(['long', 'short'], rows, Number.POSITIVE_INFINITY, plain)
    assert.equal(table.row(rows[0]), `${'x'.repeat(10_000)} │ a`)
    assert.equal(table.row(rows[1]), `y${' '.repeat(59)} │ b`)
  })

  test('in a box is as wide as the terminal at most', () => {
    const rows = [['x'.repeat(100), 1n]]
    const table = new Table(['text', 'n'], rows, 20, plain, true)
    assert.deepEqual(
      [...table.head(), table.row(rows[0]), ...table.foot],
      [
        '┌──────────────┬───┐',
        '│ text         │ n │',
        '├──────────────┼───┤',
        '│ xxxxxxxxxxx… │ 1 │',
        '└──────────────┴───┘',
      ],
    )
  })

  // G355
  test('shows control characters of names and values', () => {
    const table = new Table(['a\x1b[2J'], [['\x1b]0;title\x07']], 80, plain)
    assert.deepEqual(
      [...table.head().slice(0, 1), table.row(['\x1b]0;title\x07'])],
      ['a\\x1b[2J', '\\x1b]0;title\\x07'],
    )
  })

  test('shows the beginning of a long BLOB', () => {
    const row = [new Uint8Array(40).fill(171)]
    assert.equal(new Table(['b'], [row], 80, plain).row(row), `x'${'ab'.repeat(16)}…' (40 bytes)`)
  })
})

describe('colours', () => {
  const colourful = (isTTY, env) =>
    painter({ isTTY }, { TERM: 'xterm-256color', ...env })('x', 'bold') !== 'x'

  test('are for terminals that have them', () => {
    assert.equal(colourful(true, {}), true)
    assert.equal(colourful(false, {}), false)
    assert.equal(colourful(true, { TERM: 'dumb' }), false)
  })

  test('are off with NO_COLOR, and on with FORCE_COLOR', () => {
    assert.equal(colourful(true, { NO_COLOR: '1' }), false)
    assert.equal(colourful(true, { NO_COLOR: '' }), true)
    assert.equal(colourful(false, { FORCE_COLOR: '1' }), true)
    assert.equal(colourful(true, { FORCE_COLOR: '0' }), false)
    assert.equal(colourful(true, { NO_COLOR: '1', FORCE_COLOR: '1' }), false)
  })
})

test('sizes and times are in units that fit', () => {
  assert.deepEqual([0, 999, 1500, 25_400_000, 999_950_000].map(bytesText), [
    '0 B',
    '999 B',
    '1.5 kB',
    '25 MB',
    '1.0 GB',
  ])
  assert.deepEqual([40, 9_940, 59_400, 59_600, 185_000].map(durationText), [
    '0.0 s',
    '9.9 s',
    '59 s',
    '1:00 min',
    '3:05 min',
  ])
})
