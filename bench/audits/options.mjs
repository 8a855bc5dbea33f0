// The command line → what to do.
import { parseArgs } from 'node:util'
import { audits } from './index.mjs'

/** Throws an error that says what is wrong with the arguments. */
export function optionsFrom(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      only: { type: 'string', multiple: true },
      markdown: { type: 'boolean', default: false },
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  })
  const only = values.only?.flatMap((list) => list.split(','))
  const unknown = only?.filter((name) => !audits.some(({ id }) => id === name)) ?? []
  if (unknown.length > 0)
    throw new Error(`no such audit: ${unknown}; there are ${audits.map(({ id }) => id).join(', ')}`)
  return { ...values, audits: audits.filter(({ id }) => !only || only.includes(id)) }
}
