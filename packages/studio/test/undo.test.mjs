import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { JSDOM } from 'jsdom'

const PANEL = `
  export { h, render } from 'preact'
  export { Edits } from './edits.ts'
  export { RowPanel } from './row-panel.tsx'`

const COLUMN = { type: 'TEXT', generated: false }
const PEOPLE = {
  schema: 'main',
  name: 'people',
  columns: ['name', 'town'].map((name) => ({ ...COLUMN, name })),
}
const KEY = [1]

/** The parts of the page, as modules of this process. */
async function parts() {
  const resolveDir = join(fileURLToPath(new URL('../page/edits', import.meta.url)))
  const { outputFiles } = await build({
    stdin: { contents: PANEL, resolveDir, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  })
  return await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  )
}

/** An open row, its staged edits, and typing in its fields. */
async function openRow(t) {
  const { Edits, h, render, RowPanel } = await parts()
  const { window } = new JSDOM('<main></main>')
  Object.assign(globalThis, { window, document: window.document })
  const main = window.document.querySelector('main')
  const draw = () =>
    render(
      h(RowPanel, {
        table: PEOPLE,
        rowKey: KEY,
        row: { c0: 'tAda', c1: 'tLondon' },
        focus: 0,
        edits,
        onClose() {},
      }),
      main,
    )
  const edits = new Edits(draw)
  draw()
  t.after(() => {
    render(null, main)
    window.close()
    delete globalThis.window
    delete globalThis.document
  })
  const type = (column, text) => {
    const field = main.querySelector(`#field-${column}`)
    if (window.document.activeElement !== field) field.focus()
    for (const character of text) {
      field.value += character
      field.dispatchEvent(new window.Event('input', { bubbles: true }))
    }
  }
  return { edits, type, staged: () => edits.of(PEOPLE, KEY)?.set }
}

// G385
test('undo takes back at once what was typed in a field, until another field was entered', async (t) => {
  const { edits, type, staged } = await openRow(t)
  type('name', ' Lov')
  type('town', ', UK')
  type('name', 'elace')
  const seen = [staged()]
  while (staged() !== undefined) {
    edits.undo()
    seen.push(staged())
  }
  assert.deepEqual(seen, [
    { name: 'tAda Lovelace', town: 'tLondon, UK' },
    { name: 'tAda Lov', town: 'tLondon, UK' },
    { name: 'tAda Lov' },
    undefined,
  ])
})

// G385
test('what is typed after an undo can be undone', async (t) => {
  const { edits, type, staged } = await openRow(t)
  type('name', ' L')
  edits.undo()
  type('name', ' B')
  assert.deepEqual(staged(), { name: 'tAda B' })
  edits.undo()
  assert.equal(staged(), undefined)
})
