import { SqliteError } from 'resqlite'
import { CODES } from './constants'

type CodeName = keyof typeof CODES

/** An error in the form of node-sqlite3: the message begins with the code. `cause` is the error of resqlite. */
export interface Failure extends Error {
  /** The result code of SQLite, for example 19. */
  errno: number
  /** The name of the result code, for example `'SQLITE_CONSTRAINT'`. */
  code: string
}

export function failure(name: CodeName, message: string, cause?: unknown): Failure {
  const code = `SQLITE_${name}`
  const error = new Error(`${code}: ${message}`, cause === undefined ? undefined : { cause })
  return Object.assign(error, { errno: CODES[name], code })
}

/** The codes of node-sqlite3 for the codes of resqlite. Some come with the message of SQLite, which programs look for. */
const OURS: Readonly<Record<string, readonly [CodeName, string?]>> = {
  RESQLITE_ABORTED: ['INTERRUPT', 'interrupted'],
  RESQLITE_CLOSED: ['MISUSE', 'Database is closed'],
  RESQLITE_ENCRYPTION_KEY: ['NOTADB'],
  RESQLITE_FILES_LOST: ['IOERR'],
  RESQLITE_LEASES: ['BUSY'],
  RESQLITE_OPEN: ['CANTOPEN', 'unable to open database file'],
  RESQLITE_PARAMETER: ['RANGE'],
  RESQLITE_QUEUE_FULL: ['BUSY'],
  RESQLITE_READ_ONLY: ['READONLY', 'attempt to write a readonly database'],
  RESQLITE_TIMEOUT: ['ABORT'],
}

/** Returns the error of node-sqlite3 for an error of resqlite. */
export function asTheirs(error: unknown): Failure {
  const { code = '', errno, message } = error as Partial<Failure> & Error
  if (code.startsWith('SQLITE_') && !(error instanceof SqliteError)) return error as Failure
  if (error instanceof SqliteError) {
    const name = NAMES[(errno as number) & 0xff] ?? 'ERROR'
    return failure(name, name === 'CANTOPEN' ? 'unable to open database file' : message, error)
  }
  const [name, told = message] = OURS[code] ?? ['ERROR']
  return failure(name, told, error)
}

/** The names of the codes by their numbers, which are the lowest byte of an extended code. */
const NAMES: CodeName[] = []
for (const [name, number] of Object.entries(CODES)) NAMES[number] = name as CodeName
