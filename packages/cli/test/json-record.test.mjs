import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JsonRecord } from '../dist/input/json-record.js'
import { Real } from '../dist/input/records.js'

const value = (source) => new JsonRecord(`{"a": ${source}}`, 1).value('a')

describe('a record of NDJSON', () => {
  // G354
  test('tells INTEGER and REAL apart as they are written, and keeps the digits of 64 bits', () => {
    const written = ['1', '1.0', '-0.0', '1e2', '1.5', '9223372036854775807', '9e999']
    assert.deepEqual(value('999999999999999.99'), new Real(1e15))
    assert.deepEqual(written.map(value), [
      1,
      new Real(1),
      new Real(-0),
      new Real(100),
      1.5,
      9223372036854775807n,
      Number.POSITIVE_INFINITY,
    ])
  })

  // G366
  test('keeps the digits of an integer that neither INTEGER nor REAL holds, as text', () => {
    const nines = '9'.repeat(400)
    assert.deepEqual(['9223372036854775808', '-12345678901234567890123', nines].map(value), [
      '9223372036854775808',
      '-12345678901234567890123',
      nines,
    ])
    assert.deepEqual(value('100000000000000000000'), 1e20)
  })

  // G354
  test('keeps objects and arrays as they are written, without spaces', () => {
    const written = '[9e999, -0,12345678901234567890123 , 1.0,{"b": [ "x \\" ] , y", "\\\\"],"b" :1}]'
    assert.equal(value(written), '[9e999,-0,12345678901234567890123,1.0,{"b":["x \\" ] , y","\\\\"],"b":1}]')
  })

  test('has the last value of a key that is there twice', () => {
    const record = new JsonRecord('{"a": [1], "b": 1.0, "a": [2], "\\u0062": 2.0}', 1)
    assert.deepEqual(record.keys, ['a', 'b'])
    assert.deepEqual([record.value('a'), record.value('b')], ['[2]', new Real(2)])
  })

  test('finds numbers behind strings with quotes, brackets and backslashes', () => {
    const record = new JsonRecord('{"s\\"" : "\\\\\\"}],:" ,"t":"\\\\", "n":1.0 }', 1)
    assert.deepEqual(record.value('s"'), '\\"}],:')
    assert.deepEqual(record.value('n'), new Real(1))
  })

  // G354
  test('refuses half of a character, in a text and in a key, and names the line', () => {
    for (const json of ['{"a": "\\ud800"}', '{"a": "\\uDC00\\ud800"}', '{"\\udfff": 1}'])
      assert.throws(() => new JsonRecord(json, 7), /^Error: line 7: half of a character/)
    assert.equal(value('"\\ud83d\\ude00 \\\\ud800"'), '😀 \\ud800')
    assert.equal(value('["\\ud800"]'), '["\\ud800"]')
  })

  test('may have strings of many megabytes, of quotes and backslashes, too', { timeout: 60_000 }, () => {
    for (const part of ['x', '\\"', '\\\\', '\\n', '[']) {
      const text = `"1234567890123456${part.repeat(10_000_000 / part.length)}"`
      const record = new JsonRecord(`{"a": ${text}, "b": 1.0, "c": [${text}]}`, 1)
      assert.equal(record.value('a').length, JSON.parse(text).length)
      assert.deepEqual(record.value('b'), new Real(1))
      assert.equal(record.value('c').length, text.length + 2)
    }
  })

  test('may have a string of digits and many equal letters', { timeout: 60_000 }, () => {
    const text = `1234567890123456 ${'n'.repeat(1_000_000)}:`
    assert.equal(value(JSON.stringify(text)), text)
  })

  test('may have arrays in arrays, any number of them', { timeout: 60_000 }, () => {
    const deep = `${'['.repeat(200_000)}1.0${']'.repeat(200_000)}`
    assert.equal(value(deep), deep)
  })
})
