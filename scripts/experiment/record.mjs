// The form of a record, read and written. Pure: text in, data out.

/** The statuses of a record, each with the outcome classes that signals.json may give it. */
export const outcomesOf = {
  Planned: ['planned'],
  'In Review': ['in_review'],
  Accepted: ['accepted', 'measurement'],
  Rejected: ['rejected'],
  Deferred: ['deferred'],
}

const remark = String.raw`( \(.+\))?`
const list = (item) => `${item}(, ${item})*`

/** The fields below the title, in this order, each with the form of its value. */
export const fieldForms = {
  Date: /^\d{4}-\d{2}-\d{2}$/,
  Status: new RegExp(`^(${Object.keys(outcomesOf).join('|')})$`),
  Direction: new RegExp(`^${list('[a-z0-9-]+')}$|^none yet$`),
  'Benchmark Run': new RegExp(`^${list('`[^`]+`')}${remark}$|^none \\(.+\\)$`),
  Commit: new RegExp(`^(${list('[0-9a-f]{7,40}')}|none)${remark}$`),
  Archive: new RegExp(`^(archive/exp-\\d{3}|none)${remark}$`),
}

/** The sections, in this order, with the text of a planned record. */
export const prompts = {
  Problem: '_What is slow or large, and the figure that shows it._',
  Hypothesis: '_Why, and the figure that would refute it. Written before anything is measured._',
  Approach: '_What changes, what it is compared with, on which machine and versions, by which command._',
  Results: '',
  Decision: '',
  'Future Notes': '_What is left, and what would have to change before this is tried again._',
}

/** Reads a record. What is missing is undefined or not in its list. */
export function parseRecord({ name, text }) {
  const [head, ...rest] = text.split(/^## /m)
  const [, titleNumber, title] = /^# Experiment (\d{3}): (\S.*)/.exec(head) ?? []
  const fields = [...head.matchAll(/^- \*\*(.+?)\*\*: *(.*)$/gm)].map(([, field, value]) => [field, value])
  const { Date: date, Status: status, Direction: direction = '' } = Object.fromEntries(fields)
  const directions = direction === 'none yet' ? [] : direction.split(', ')
  const sections = rest.map((section) => [section.split('\n', 1)[0], section.replace(/.*/, '').trim()])
  return { name, number: name.slice(0, 3), titleNumber, title, fields, date, status, directions, sections }
}

/** The name of a record's file. */
export function fileName(number, title) {
  const plain = title
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
  return `${[number, ...plain.match(/[a-z0-9]+/g)].join('-')}.md`
}

/** The text of a new record. `date` is YYYY-MM-DD. */
export function plannedRecord({ number, title, date, directions }) {
  const direction = directions.join(', ') || 'none yet'
  const values = [date, 'Planned', direction, 'none (not measured yet)', 'none', 'none']
  const fields = Object.keys(fieldForms).map((name, index) => `- **${name}**: ${values[index]}`)
  const sections = Object.entries(prompts).map(([name, prompt]) => `## ${name}\n${prompt && `\n${prompt}\n`}`)
  return [`# Experiment ${number}: ${title}\n`, ...fields, '', ...sections].join('\n')
}
