// The rules for the live queries of all nodes: the accounts have the same sum at each time, a commit never has a lower
// number than the one before, and a count of what is only added to never falls.

import { TOTAL } from './workload.mjs'

export class Emissions {
  count = 0
  #record
  /** The last of each query of each node since it was opened. */
  #last = new Map()

  constructor(record) {
    this.#record = record
  }

  /** A node is opened again: it begins from its file. */
  forget(node) {
    for (const key of [...this.#last.keys()]) if (key.startsWith(`${node.name} `)) this.#last.delete(key)
  }

  take(node, { emitted, commit, sum }) {
    this.count += 1
    const key = `${node.name} ${emitted}`
    const before = this.#last.get(key)
    this.#last.set(key, { commit, sum })
    const details = { node: node.name, emitted, commit, sum, before }
    if (emitted !== 'written' && sum !== TOTAL)
      this.#record.violated('the accounts have another sum', details)
    if (!before) return
    if (commit < before.commit) this.#record.violated('a live query goes back to an older commit', details)
    if (emitted === 'written' && sum < before.sum)
      this.#record.violated('a live query shows fewer rows than before', details)
  }
}
