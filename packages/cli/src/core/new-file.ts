import { randomBytes } from 'node:crypto'
import { lstatSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs'
import { link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { SUFFIXES } from './database.js'

/**
 * Makes a file, which may be a database, under another name in the same folder; it gets its own when it is complete. What is
 * there already is not replaced, unless that is asked for. After an error nothing is left; after a crash, a file whose name ends in
 * `.partial`.
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
    // Nobody else has a file of this name, and it gets the mode that new files have here.
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

/** Where a new file has its place: that of a link to nothing is where the link leads. Undefined if there is a file. */
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
      // A file that stays is recognised by its name.
    }
  }
}

/** A log without its database would be taken for that of the one that gets its name. */
export async function refuseLogs(file: string): Promise<void> {
  for (const suffix of SUFFIXES) await refuse(file + suffix, `there is no ${file}, but `)
}

async function refuse(file: string, because: string): Promise<void> {
  const there = await stat(file).catch(() => undefined)
  if (there !== undefined) throw new Error(`${because}${file} is there`)
}

/** Names a file, unless there is one of this name. */
async function nameNew(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw meanwhile(file)
    return await renameNew(partial, file)
  }
  await rm(partial)
}

/** The same where a file has only one name. */
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

/** Tells the name that the user gave. */
function renamed(error: Error, partial: string, file: string): Error {
  error.message = error.message.replaceAll(partial, file)
  return error
}
