import { randomBytes } from 'node:crypto'
import { lstatSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs'
import { link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { SUFFIXES } from './database.js'

/**
 * Makes a file, which may be a database, under another name in the same folder. The file gets its own name when it is complete. An
 * existing file is not replaced, unless `replaces` is true. After an error nothing is left; after a crash, a file is left whose
 * name ends in `.partial`.
 */
export async function completed<T>(
  file: string,
  { replaces }: { replaces: boolean },
  make: (partial: string) => Promise<T>,
): Promise<T> {
  const partial = join(dirname(file), `resqlite-${randomBytes(8).toString('hex')}.partial`)
  const remove = () => removeAll(partial)
  // A program that is interrupted twice ends at once.
  process.once('exit', remove)
  try {
    // No other program uses this name, and the file gets the mode that new files have here.
    await (await open(partial, 'wx')).close()
    const made = await make(partial)
    for (const suffix of SUFFIXES) await refuse(partial + suffix, `${file} is not whole: `)
    await (replaces ? rename(partial, file) : nameNew(partial, file))
    return made
  } catch (error) {
    remove()
    throw renamed(error as Error, partial, file)
  } finally {
    process.removeListener('exit', remove)
  }
}

/**
 * Returns the path at which a new file is created. For a link to nothing, this is the path that the link leads to. Undefined if
 * there is a file.
 */
export function newPlace(file: string): string | undefined {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return undefined
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return file
  return newPlace(resolve(realpathSync(dirname(file)), readlinkSync(file)))
}

/** Removes a database, as far as that is possible. */
function removeAll(file: string): void {
  for (const suffix of ['', ...SUFFIXES]) {
    try {
      rmSync(file + suffix, { force: true })
    } catch {
      // A file that could not be removed is recognised by its name.
    }
  }
}

/** Refuses log files without a database, because they would be taken for the log of the new database with this name. */
export async function refuseLogs(file: string): Promise<void> {
  for (const suffix of SUFFIXES) await refuse(file + suffix, `there is no ${file}, but `)
}

async function refuse(file: string, because: string): Promise<void> {
  const there = await stat(file).catch(() => undefined)
  if (there !== undefined) throw new Error(`${because}${file} is there`)
}

/** Gives a file its name, unless there is already a file of this name. */
async function nameNew(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw meanwhile(file)
    return await renameNew(partial, file)
  }
  await rm(partial)
}

/** Does the same on file systems without hard links. */
async function renameNew(partial: string, file: string): Promise<void> {
  const claimed = await open(file, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? meanwhile(file) : error
  })
  await claimed.close()
  await rename(partial, file)
}

function meanwhile(file: string): Error {
  return new Error(`${file} was created meanwhile, by another program`)
}

/** Puts the name that the user gave into the message of the error. */
function renamed(error: Error, partial: string, file: string): Error {
  error.message = error.message.replaceAll(partial, file)
  return error
}
