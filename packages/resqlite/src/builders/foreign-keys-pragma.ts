import { isOn, type Pragma, pragmaAt, pragmaOf } from './pragma'
import { Scanner } from './scanner'

/** The three things that a statement does with `PRAGMA foreign_keys`. */
export type ForeignKeysPragma = 'get' | 'on' | 'off'

/**
 * Recognises `PRAGMA foreign_keys` in every form in which SQLite reads it. Returns undefined for all other statements. Also
 * returns undefined if something else follows the PRAGMA, since that would be lost otherwise.
 */
export function foreignKeysPragma(sql: string): ForeignKeysPragma | undefined {
  return meaningOf(pragmaOf(sql))
}

function meaningOf(pragma: Pragma | undefined): ForeignKeysPragma | undefined {
  if (pragma?.name !== 'foreign_keys') return undefined
  return pragma.value === undefined ? 'get' : isOn(pragma.value) ? 'on' : 'off'
}

/**
 * Returns a script for a transaction with foreign keys off. It leaves out the PRAGMAs that switch foreign keys, the BEGIN and
 * COMMIT around a dump, and the comments beside these. Returns undefined if nothing in the script switches foreign keys off.
 */
export function scriptWithForeignKeysOff(script: string): string | undefined {
  if (!/foreign_keys/i.test(script)) return undefined
  const scanner = new Scanner(script)
  const kept: string[] = []
  let keptUntil = 0
  let off = false
  while (!scanner.atEnd) {
    const start = scanner.position
    const pragma = pragmaAt(scanner)
    if (pragma !== undefined && (scanner.take(';') || scanner.atEnd)) {
      const meaning = meaningOf(pragma)
      if (meaning === undefined || meaning === 'get') continue
      off ||= meaning === 'off'
      kept.push(script.slice(keptUntil, start))
      keptUntil = scanner.position
    } else if (transactionAt(scanner)) {
      kept.push(script.slice(keptUntil, start))
      keptUntil = scanner.position
    } else {
      scanner.finishStatement()
    }
  }
  return off ? kept.join('') + script.slice(keptUntil) : undefined
}

/** Reads a BEGIN or a COMMIT. Does not read an END, which may belong to a trigger. */
function transactionAt(scanner: Scanner): boolean {
  if (!scanner.takeWord('commit')) {
    if (!scanner.takeWord('begin')) return false
    for (const kind of ['deferred', 'immediate', 'exclusive']) scanner.takeWord(kind)
  }
  scanner.takeWord('transaction')
  return scanner.take(';') || scanner.atEnd
}
