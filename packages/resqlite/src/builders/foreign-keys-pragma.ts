import { Scanner } from './scanner'

/** The three things that a statement does with `PRAGMA foreign_keys`. */
export type ForeignKeysPragma = 'get' | 'on' | 'off'

/**
 * Recognises the PRAGMA in every form in which SQLite reads it; undefined for all other statements, and if something else
 * follows it, which would be lost otherwise.
 */
export function foreignKeysPragma(sql: string): ForeignKeysPragma | undefined {
  const scanner = new Scanner(sql)
  scanner.takeAll(';')
  const pragma = pragmaAt(scanner)
  scanner.takeAll(';')
  return scanner.atEnd ? pragma : undefined
}

/**
 * A script for a transaction without foreign keys: without the PRAGMAs that switch them, the BEGIN and COMMIT that dumps have
 * around what they do, and the comments beside these. Undefined if nothing in it switches foreign keys off.
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
      if (pragma === 'get') continue
      off ||= pragma === 'off'
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

const ON = new Set(['on', 'yes', 'true'])

/** Reads `PRAGMA foreign_keys`, with or without a value. Undefined: it is not there. */
function pragmaAt(scanner: Scanner): ForeignKeysPragma | undefined {
  if (!scanner.takeWord('pragma')) return undefined
  let name = scanner.name()?.toLowerCase()
  if ((name === 'main' || name === 'temp') && scanner.take('.')) name = scanner.name()?.toLowerCase()
  if (name !== 'foreign_keys') return undefined
  const inParentheses = scanner.take('(')
  if (!inParentheses && !scanner.take('=')) return 'get'
  const value = valueAt(scanner)
  if (value === undefined || (inParentheses && !scanner.take(')'))) return undefined
  return isOn(value) ? 'on' : 'off'
}

/** Reads a BEGIN or a COMMIT. An END may be that of a trigger. */
function transactionAt(scanner: Scanner): boolean {
  if (!scanner.takeWord('commit')) {
    if (!scanner.takeWord('begin')) return false
    for (const kind of ['deferred', 'immediate', 'exclusive']) scanner.takeWord(kind)
  }
  scanner.takeWord('transaction')
  return scanner.take(';') || scanner.atEnd
}

function valueAt(scanner: Scanner): string | undefined {
  const negative = scanner.take('-')
  const number = negative || scanner.take('+') ? scanner.number() : (scanner.number() ?? scanner.name())
  return negative && number !== undefined ? `-${number}` : number
}

/** As SQLite takes a value for a switch: a number beyond 32 bits is 0, and a word that it does not know is off. */
function isOn(value: string): boolean {
  const number = /^(?:0x[\da-f]+|\d+)/i.exec(value)?.[0]
  if (number === undefined) return ON.has(value.toLowerCase())
  return Number(number) !== 0 && Number(number) < 2 ** 31
}
