// The answers to clients of nodes, with their times.

/** Codes after which a write may have happened, or may yet. After any other, it has not. */
const UNKNOWN = [
  'DIED',
  'RESQLITE_CLOSED',
  'RESQLITE_OUTCOME_UNKNOWN',
  'RESQLITE_LOG_DIVERGED',
  'RESQLITE_FELL_BEHIND',
]

/** The outcome of a write: done, none or unknown. */
export function outcomeOf(answer) {
  if (answer.done) return 'done'
  return UNKNOWN.includes(answer.code) ? 'unknown' : 'none'
}

export class Record {
  /** Each mark of a write, with what became of it and the position that it was told. */
  marks = new Map()
  /** Reads and writes of texts, for the checker of histories. */
  operations = []
  /** The calls that ended: time, node, outcome, duration. */
  events = []
  /** The number of errors by code, with the first message. */
  codes = {}
  /** The violations that were found. */
  violations = []
  #waiting = []

  get acknowledged() {
    return this.events.filter((event) => event.is === 'write' && event.outcome === 'done').length
  }

  /** `is`: write, read or fresh. */
  ended({ node, is, called, answer }) {
    const at = performance.now()
    const outcome = outcomeOf(answer)
    if (outcome !== 'done') this.#count(answer)
    this.events.push({ at, node: node.index, is, outcome, code: answer.code, took: at - called })
    if (is !== 'write' || outcome !== 'done') return
    for (const waits of this.#waiting.filter((each) => each.isFor(node.index))) waits.settle(true)
  }

  #count({ code, message }) {
    this.codes[code] ??= { count: 0, first: message }
    this.codes[code].count += 1
  }

  violated(what, details) {
    this.violations.push({ what, at: performance.now() / 1_000, ...details })
  }

  /** Waits for the next acknowledged write of this node, or of any; false if there is none in this time. */
  progress(milliseconds, index) {
    return new Promise((go) => {
      const waits = { isFor: (other) => index === undefined || index === other }
      waits.settle = (progressed) => {
        clearTimeout(timer)
        this.#waiting = this.#waiting.filter((each) => each !== waits)
        go(progressed)
      }
      const timer = setTimeout(waits.settle, milliseconds, false)
      this.#waiting.push(waits)
    })
  }

  /** The longest time without an acknowledged write of these nodes between two moments, in milliseconds. */
  longestGap(from, to, nodes = [0, 1, 2]) {
    const isAcknowledged = ({ is, outcome, node }) =>
      is === 'write' && outcome === 'done' && nodes.includes(node)
    const times = this.events.filter((event) => isAcknowledged(event) && event.at >= from && event.at <= to)
    let [longest, last] = [0, from]
    for (const { at } of [...times, { at: to }]) {
      longest = Math.max(longest, at - last)
      last = at
    }
    return longest
  }

  /** The answers of these nodes to the calls between two moments: the count of each answer, and the longest duration. */
  answers(from, to, nodes, is) {
    const answers = {}
    for (const event of this.events) {
      const called = event.at - event.took
      if (event.is !== is || !nodes.includes(event.node) || called < from || called > to) continue
      const name = event.outcome === 'done' ? 'done' : event.code
      answers[name] ??= { count: 0, longest: 0 }
      const found = answers[name]
      found.count += 1
      found.longest = Math.max(found.longest, Math.round(event.took))
    }
    return answers
  }
}
