// A thousand rows of five kinds.
import { oneByOne } from './calls.mjs'
import { expectRows } from './expect.mjs'
import { makeFile, numbered } from './file.mjs'

const count = 1000
const paragraph = 'A text as long as a paragraph of a letter, of a comment or of an article has it, '.repeat(
  3,
)

/** The values of one row after its id. Columns have no declared type: values keep the one they have. */
const kinds = {
  narrow: { title: 'narrow: id and one number', row: (i) => ({ value: i * 7 }) },
  wide: {
    title: 'wide: 20 columns, mixed',
    row: (i) =>
      Object.fromEntries(
        numbered(19, (c) => [
          `c${c}`,
          c % 3 === 0 ? i * 0.5 + c + 0.25 : c % 3 === 1 ? i + c : `text ${c} of row ${i}`,
        ]),
      ),
  },
  text: {
    title: 'text-heavy: four long texts, two numbers',
    row: (i) => ({
      value: i * 3,
      ...Object.fromEntries(numbered(4, (c) => [`text${c}`, `${i}.${c} ${paragraph}`])),
    }),
  },
  numeric: {
    title: 'numeric: three whole numbers, three fractions',
    row: (i) => ({ a: i % 100, b: i * 65_537, x: i + 0.5, y: i * 1.37 + 0.11, z: -i - 0.25 }),
  },
  nullable: {
    title: 'nullable: every second value is NULL',
    row: (i) =>
      Object.fromEntries(
        numbered(6, (c) => [`c${c}`, (i + c) % 2 ? null : c % 2 ? `text ${c} of row ${i}` : i * c]),
      ),
  },
}

const shapeSelect = (kind, { title, row }) => {
  const rows = numbered(count, (i) => ({ id: i, ...row(i) }))
  const columns = Object.keys(rows[0])
  return {
    id: `shape-${kind}`,
    version: 'v1',
    group: 'reads',
    title: `select 1,000 rows, ${title}`,
    shapes: [kind],
    seed: (file) =>
      makeFile(file, `CREATE TABLE ${kind} (id INTEGER PRIMARY KEY, ${columns.slice(1)})`, {
        [kind]: rows.map(Object.values),
      }),
    async prepare(session, _shape, owner) {
      const statement = await session.prepare(`SELECT * FROM ${kind}`)
      expectRows(await statement.all([]), rows)
      const touch = makeTouch(rows, owner)
      const expected = touch(rows)
      const check = (result) => {
        if (touch(result) !== expected) throw new Error('wrong rows')
      }
      return { run: oneByOne(session, () => statement.all([]), check) }
    },
  }
}

export const shapeSelects = Object.entries(kinds).map(([kind, about]) => shapeSelect(kind, about))

/** As its namesake for the two standard shapes: a function of its own for every peer that reads every field. */
function makeTouch(rows, owner) {
  const terms = Object.keys(rows[0]).map((name) => {
    const values = rows.map((row) => row[name])
    const read = values.some((value) => typeof value === 'string') ? `row.${name}.length` : `row.${name}`
    return values.includes(null) ? `(row.${name} === null ? 1 : ${read})` : read
  })
  return new Function(
    'rows',
    `// ${owner} ${++touches}
    let sum = 0
    for (const row of rows) sum += ${terms.join(' + ')}
    return sum`,
  )
}
let touches = 0
