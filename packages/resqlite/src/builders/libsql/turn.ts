import { Scanner } from '../scanner'

const READS = new Set(['select', 'values', 'explain'])
const WRITES = new Set(['insert', 'replace', 'update', 'delete'])

/** Matches SQL that asks for the facts of the writes before it: see {@link withFacts}. */
const ASKS_FOR_FACTS = /last_insert_rowid|changes/i

/** Says whether a statement counts in `changes()`, as far as its first word shows. */
export const changesRows = (sql: string): boolean => WRITES.has(verbOf(sql))

/**
 * Keeps reads behind the writes that were called before them in the same turn of the event loop. `@libsql/client` runs each
 * call at once, so programs for it can leave out an `await`. A read in a later turn waits for nothing.
 */
export class Turn {
  /** The end of the writes of this turn. */
  #written: Promise<unknown> | undefined
  /**
   * The last call that waited and may write. Later writes wait for this call, so that they run in the order of their calls.
   */
  #waiting: Promise<unknown> | undefined

  run<T>(sql: string, call: () => Promise<T>): Promise<T> {
    const verb = verbOf(sql)
    if (READS.has(verb)) return after(this.#written, call)
    const mayRead = verb === 'with' || verb === 'pragma' || ASKS_FOR_FACTS.test(sql)
    const result = after(mayRead ? this.#written : this.#waiting, call)
    if (this.#written === undefined) setImmediate(() => this.#end())
    if (mayRead) this.#waiting = result
    this.#written = Promise.allSettled([this.#written, result])
    return result
  }

  #end(): void {
    this.#written = undefined
    this.#waiting = undefined
  }
}

/** Makes a call after `before` has settled, or at once if there is nothing to wait for. */
function after<T>(before: Promise<unknown> | undefined, call: () => Promise<T>): Promise<T> {
  return before === undefined ? call() : before.then(call, call)
}

/**
 * Returns the word that says what a statement does, in lower case. For a WITH, returns the word of the read after it, or else
 * `with`.
 */
function verbOf(sql: string): string {
  const scanner = new Scanner(sql)
  scanner.takeAll(';')
  const word = scanner.word() ?? ''
  if (word !== 'with') return word
  let depth = 0
  while (!scanner.atEnd) {
    if (scanner.take('(')) depth++
    else if (scanner.take(')')) depth--
    else {
      const next = scanner.word()
      if (next === undefined) scanner.skipToken()
      else if (depth === 0 && READS.has(next)) return next
      else if (depth === 0 && WRITES.has(next)) return word
    }
  }
  return word
}
