// The records of what was tried, in experiments/: begins one, makes their index, checks them. npm run experiment -- …
import { relative } from 'node:path'
import { errorsIn } from './experiment/check.mjs'
import { addRecord, readNotebook, writeIndex } from './experiment/notebook.mjs'
import { root } from './lib/paths.mjs'
import { CommandFailed, runAsProgram, runTool } from './lib/process.mjs'

const usage = `npm run experiment -- new "title" [direction …]   begins a record; directions are ids of experiments/signals.json
npm run experiment -- index                       makes the index in experiments/README.md
npm run experiment -- check                       checks records, signals, index and the files that documents name`

/** Throws a CommandFailed that lists everything that is wrong with the records below `folder`. */
export function checkExperiments(folder = root) {
  const errors = errorsIn(folder)
  if (errors.length > 0) throw new CommandFailed(errors.join('\n'))
  console.log(`${readNotebook(folder).records.length} records agree with their signals and index`)
}

/** Begins a record dated today and returns its path. */
export function newExperiment(title, directions, folder = root, date = new Date()) {
  if (!/[a-z0-9]/i.test(title)) throw new CommandFailed(`a title has words\n${usage}`)
  const known = readNotebook(folder).signals.directions.map(({ id }) => id)
  const unknown = directions.filter((id) => !known.includes(id))
  if (unknown.length > 0)
    throw new CommandFailed(`no direction ${unknown.join(', ')}: there are ${known.join(', ')}`)
  return addRecord(folder, { title: title.trim(), date: date.toISOString().slice(0, 10), directions })
}

const commands = {
  new: (title = '', ...directions) => {
    console.log(relative(root, newExperiment(title, directions)))
    runTool('@biomejs/biome', 'biome', ['format', '--write', 'experiments/signals.json'])
  },
  index: () => writeIndex(root),
  check: () => checkExperiments(),
}

await runAsProgram(import.meta.url, ([name = '', ...args]) => {
  if (!Object.hasOwn(commands, name)) throw new CommandFailed(usage)
  commands[name](...args)
})
