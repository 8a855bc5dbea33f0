import { rename, rm } from 'node:fs/promises'

/** What SQLite puts behind the name of a database for its other files. */
const SUFFIXES = ['', '-wal', '-shm']

/** Makes a file, which may be a database, under another name until it is complete. After an error nothing of it is left. */
export async function completed<T>(file: string, make: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${file}.${process.pid}.partial`
  try {
    const made = await make(partial)
    await rename(partial, file)
    return made
  } catch (error) {
    for (const suffix of SUFFIXES) await rm(partial + suffix, { force: true })
    throw error
  }
}
