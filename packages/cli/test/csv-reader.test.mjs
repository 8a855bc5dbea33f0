import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { numbers } from '../../../scripts/lib/random.mjs'
import { PLAIN_CSV } from '../dist/core/csv-style.js'
import { csvRecord } from '../dist/formats/csv-writer.js'
import { CsvReader } from '../dist/input/csv-reader.js'

/** All records of pieces of CSV. */
function read(pieces, style = {}, header = false) {
  const meanings = (first) => first.map(() => (text) => text)
  const reader = new CsvReader({ delimiter: ',', nullText: '', ...style }, header, meanings)
  const parts = [...pieces.map((piece) => reader.read(Buffer.from(piece))), reader.end()]
  const records = parts.flatMap(({ records }) => records)
  return {
    records: records.map((record) => record.map((field) => (field === null ? null : String(field)))),
    lines: parts.flatMap(({ lines }) => lines),
  }
}

const recordsOf = (text, style, header) => read([text], style, header).records

describe('a CSV reader', () => {
  test('tells an empty field from an empty text', () => {
    assert.deepEqual(recordsOf('a,,""\n'), [['a', null, '']])
  })

  test('takes LF and CRLF as line ends, and needs none at the end', () => {
    assert.deepEqual(recordsOf('a,b\r\nc,d\n\r\ne,f'), [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ])
    assert.deepEqual(recordsOf('a,b\r\n"c","d"\r\n'), [
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  // G361
  test('takes CR as a line end, too, also in turns with the others, and none in quotes', () => {
    const { records, lines } = read(['a,b\r1,"2\r3\r\n4"\r\r\n5,6\n7,8\r'])
    assert.deepEqual(records, [
      ['a', 'b'],
      ['1', '2\r3\r\n4'],
      ['5', '6'],
      ['7', '8'],
    ])
    assert.deepEqual(lines, [1, 2, 6, 7])
    assert.deepEqual(read(['a\r', '\nb\r', 'c', '\r', '\n']).lines, [1, 2, 3])
  })

  test('keeps quotes, delimiters and line ends in quoted fields', () => {
    assert.deepEqual(recordsOf('"say ""hi""","x,y","two\r\nlines"\n'), [['say "hi"', 'x,y', 'two\r\nlines']])
  })

  test('takes a quote inside a plain field as it stands', () => {
    assert.deepEqual(recordsOf('5" pipe,b"c"\n'), [['5" pipe', 'b"c"']])
  })

  // G358
  test('has a record of NULL for an empty line where records have one field, except before a header', () => {
    assert.deepEqual(recordsOf('\na\n\nb\n', {}, true), [[null], ['b']])
    assert.deepEqual(recordsOf('\r\n\na\n\nb\n'), [[null], [null], ['a'], [null], ['b']])
    assert.deepEqual(recordsOf('\n\n'), [[null], [null]])
    assert.deepEqual(read(['\n', '\na', ',b\n']).records, [['a', 'b']])
    assert.deepEqual(read(['\n\na', '\nb\n']).lines, [1, 2, 3, 4])
  })

  test('takes another text for NULL, where it stands without quotes', () => {
    assert.deepEqual(recordsOf('\\N,"\\N",,""\n', { nullText: '\\N' }), [[null, '\\N', '', '']])
  })

  test('takes another delimiter, also one beyond ASCII', () => {
    assert.deepEqual(recordsOf('a,b\tc\n', { delimiter: '\t' }), [['a,b', 'c']])
    // The first byte of § is that of ¢, too.
    assert.deepEqual(recordsOf('1¢§"2"§\r\n', { delimiter: '§' }), [['1¢', '2', null]])
  })

  test('tells the line at which each record begins', () => {
    assert.deepEqual(read(['a,"1\n2"\nb,3\n\nc,4']).lines, [1, 3, 5])
  })

  for (const [text, message] of [
    ['a,b\n1,2,3\n', 'line 2, column 5: more than 2 fields'],
    ['a,b,c\n1,2\n', 'line 2, column 4: 2 fields instead of 3'],
    ['a,b\n1,"2\n3\n', 'line 2, column 3: a field whose closing quote is missing'],
    ['a,b\n1,"2"x\n', 'line 2, column 6: text behind a closing quote'],
    ['a,b\r1,2\r"3\r4",5,6\r', 'line 4, column 6: more than 2 fields'],
    ['a,b\n"1\n2","3"x\n', 'line 3, column 7: text behind a closing quote'],
  ]) {
    test(`refuses ${JSON.stringify(text)} with its place`, () => {
      assert.throws(() => recordsOf(text), { message })
    })
  }

  // G354
  test('reads what was written, in whatever pieces it arrives', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = numbers(seed)
      const texts = [
        '',
        ' ',
        'a',
        '"',
        '""',
        ',',
        '\n',
        '\r\n',
        '\r',
        'two words',
        'é',
        '漢字',
        '😀',
        '§',
        '⇒→',
        ';',
        'x'.repeat(50),
      ]
      const field = () => (random(5) === 0 ? null : texts[random(texts.length)] + texts[random(texts.length)])
      const width = 1 + random(4)
      const header = Array.from({ length: width }, (_, n) => `name ${n}`)
      const records = [header, ...Array.from({ length: random(20) }, () => header.map(field))]
      const style = { ...PLAIN_CSV, delimiter: [',', ';', '§', '→'][random(4)] }
      const characters = [...records.map((record) => csvRecord(record, style)).join('')]
      const size = 1 + random(9)
      const pieces = Array.from({ length: Math.ceil(characters.length / size) }, (_, n) =>
        characters.slice(n * size, (n + 1) * size).join(''),
      )
      assert.deepEqual(read(pieces, style).records, records, `seed ${seed}`)
      for (const end of ['\r', '\r\n']) {
        const ended = records.map((record) => csvRecord(record, style).replace(/\n$/, end)).join('')
        assert.deepEqual(read([...ended], style).records, records, `seed ${seed}, ${JSON.stringify(end)}`)
      }
    }
  })
})
