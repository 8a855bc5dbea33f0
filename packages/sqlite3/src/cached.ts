import { resolve } from 'node:path'
import { Database } from './database'

type Callback = (this: Database, error: Error | null) => void

interface Cached {
  /** Returns the database of this file, and opens it if there is none yet. `new` is allowed. */
  Database: {
    (filename: string, callback?: Callback): Database
    (filename: string, mode?: number, callback?: Callback): Database
    new (filename: string, callback?: Callback): Database
    new (filename: string, mode?: number, callback?: Callback): Database
  }
  /** The databases, by the absolute paths of their files. */
  objects: Record<string, Database>
}

const objects: Record<string, Database> = {}

/** Databases that the parts of a program share. */
export const cached = { Database: find, objects } as Cached

function find(filename: string, mode?: number | Callback, callback?: Callback): Database {
  const make = () => new Database(filename, mode as number, callback)
  if (filename === '' || filename === ':memory:') return make()
  const file = resolve(filename)
  const found = objects[file]
  if (found === undefined) {
    objects[file] = make()
    return objects[file]
  }
  const told = typeof mode === 'function' ? mode : callback
  if (typeof told === 'function') {
    const tell = () => told.call(found, null)
    if (found.open) process.nextTick(tell)
    else found.once('open', tell)
  }
  return found
}
