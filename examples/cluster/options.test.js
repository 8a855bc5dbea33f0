import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { optionsOf } from './options.js'

describe('what npm run cluster takes', () => {
  it('is nothing where there is a terminal', () => {
    const { log, port, seconds } = optionsOf([], true)
    assert.deepEqual([log, port, seconds], ['nats', 4001, undefined])
  })

  it('is a number of seconds where there is none', () => {
    assert.throws(() => optionsOf([], false), /no terminal/)
    const { seconds, kills, seed } = optionsOf(['--seconds', '30', '--kills', '2', '--seed', '7'], false)
    assert.deepEqual([seconds, kills, seed], [30, 2, 7])
  })

  it('is a log that there is', () => {
    assert.equal(optionsOf(['--log', 'etcd'], true).log, 'etcd')
    assert.throws(() => optionsOf(['--log', 'kafka'], true), /nats, etcd/)
  })

  it('is refused by name where it is not known, or no number', () => {
    assert.throws(() => optionsOf(['--speed', '9'], true), /--speed/)
    assert.throws(() => optionsOf(['--seconds', 'ten'], true), /--seconds is ten/)
    assert.throws(() => optionsOf(['--port', '65535'], true), /65533/)
  })
})
