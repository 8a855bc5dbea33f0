// The form of a record, read and written. Pure: text in, data out.

/** The statuses of a record, each with the outcome classes that signals.json may give it. */
export const outcomesOf = {
  Planned: ['planned'],
  'In Review': ['in_review'],
  Accepted: ['accepted', 'measurement'],
  Rejected: ['rejected'],
  Deferred: ['deferred'],
}

export const headerFields = ['Date', 'Status', 'Direction', 'Benchmark Run', 'Commit', 'Archive']

/** The sections with what a planned record says in them, until somebody knows better. */
export const prompts = {
  Problem: '_What is slow or large, and the figure that shows it._',
  Hypothesis: '_Why, and the figure that would refute it. Written before anything is measured._',
  Approach: '_What changes, what it is compared with, on which machine and versions, by which command._',
  Results: '',
  Decision: '',
  'Future Notes': '_What is left, and what would have to change before this is tried again._',
}

export const sectionNames = Object.keys(prompts)

/**
 * Reads a record. Nothing is judged here: what is missing is undefined, or not in its list.
 *
 * @returns {{ name: string, number: string, title?: string, titleNumber?: string,
 *   fields: { name: string, value: string, line: number }[],
 *   sections: { name: string, line: number, lines: { text: string, line: number, code: boolean }[] }[] }}
 */
export function parseRecord({ name, text }) {
  const record = { name, number: name.slice(0, 3), title: undefined, fields: [], sections: [] }
  for (const line of numberedLines(text)) {
    const [, section] = (!line.code && /^## (.+?)\s*$/.exec(line.text)) || []
    if (section) record.sections.push({ name: section, line: line.line, lines: [] })
    else if (record.sections.length > 0) record.sections.at(-1).lines.push(line)
    else readHead(record, line)
  }
  return record
}

function readHead(record, { text, line }) {
  const [, number, title] = /^# Experiment (\d{3}): (\S.*?)\s*$/.exec(text) ?? []
  if (title && line === 1) Object.assign(record, { title, titleNumber: number })
  const [, name, value] = /^- \*\*(.+?)\*\*:\s*(.*?)\s*$/.exec(text) ?? []
  if (name) record.fields.push({ name, value, line })
}

/** The lines of a Markdown text with their numbers, and whether they stand in a fenced block of code. */
export function numberedLines(text) {
  let fence
  return text.split('\n').map((line, index) => {
    const [, mark] = /^\s*(```+|~~~+)/.exec(line) ?? []
    const code = fence !== undefined || mark !== undefined
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    return { text: line, line: index + 1, code }
  })
}

export function field(record, name) {
  return record.fields.find((field) => field.name === name)
}

/** The ids in a record's Direction; none while it is only planned. */
export function directionsOf(record) {
  const value = field(record, 'Direction')?.value ?? ''
  return value === 'none yet' ? [] : value.split(', ').filter((id) => id !== '')
}

/** The title as it stands in the name of the file. */
export function slug(title) {
  return title
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .replaceAll(' ', '-')
}

export function fileName(number, title) {
  return `${number}-${slug(title)}.md`
}

/** The number after the highest of these file names. */
export function nextNumber(names) {
  const highest = Math.max(0, ...names.map((name) => Number.parseInt(name, 10) || 0))
  return String(highest + 1).padStart(3, '0')
}

/** The text of a new record. `date` is YYYY-MM-DD. */
export function plannedRecord({ number, title, date, directions }) {
  const values = {
    Date: date,
    Status: 'Planned',
    Direction: directions.join(', ') || 'none yet',
    'Benchmark Run': 'none (not measured yet)',
    Commit: 'none',
    Archive: 'none',
  }
  const head = headerFields.map((name) => `- **${name}**: ${values[name]}`)
  const sections = sectionNames.flatMap((name) =>
    prompts[name] === '' ? [`## ${name}`, ''] : [`## ${name}`, '', prompts[name], ''],
  )
  return [`# Experiment ${number}: ${title}`, '', ...head, '', ...sections].join('\n')
}
