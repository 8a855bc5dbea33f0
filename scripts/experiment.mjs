// The records of what was tried, in experiments/: begins one, makes their index, checks them. npm run experiment -- …
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorsIn } from './experiment/check.mjs'
import { addRecord, directionIds, readNotebook, writeIndex } from './experiment/notebook.mjs'
import { slug } from './experiment/record.mjs'
import { root } from './lib/paths.mjs'
import { CommandFailed } from './lib/process.mjs'

const usage = `npm run experiment -- new "title" [direction …]   begins a record; directions are ids of experiments/signals.json
npm run experiment -- index                       makes the index in experiments/README.md anew
npm run experiment -- check                       checks records, signals, index and the files that are named`

/** Throws a CommandFailed that lists everything that is wrong with the records below `folder`. */
export function checkExperiments(folder = root) {
  const notebook = readNotebook(folder)
  const errors = errorsIn(notebook)
  if (errors.length > 0) throw new CommandFailed(errors.join('\n'))
  console.log(`${notebook.records.length} records, ${notebook.stored.size} stored results`)
}

/** Begins a record dated today and returns its path. */
export function newExperiment(title, directions, folder = root, date = new Date()) {
  if (slug(title) === '') throw new CommandFailed(`a title has words\n${usage}`)
  const known = directionIds(folder)
  const unknown = directions.filter((id) => !known.includes(id))
  if (unknown.length > 0)
    throw new CommandFailed(`no direction ${unknown.join(', ')}: there are ${known.join(', ')}`)
  return addRecord(folder, { title: title.trim(), date: date.toISOString().slice(0, 10), directions })
}

const commands = {
  new: (title = '', ...directions) => console.log(relative(root, newExperiment(title, directions))),
  index: () => writeIndex(root),
  check: () => checkExperiments(),
}

function main([name, ...args]) {
  if (!Object.hasOwn(commands, name ?? '')) throw new CommandFailed(usage)
  commands[name](...args)
}

if (resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
