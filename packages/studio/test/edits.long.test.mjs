import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBrowser, openPage } from './support/browser.mjs'
import { serve, tempDatabase } from './support/studio.mjs'

const SCHEMA = `
  CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER);
  INSERT INTO people VALUES (1, 'Ada', 36), (2, 'Grace', NULL), (3, 'Edsger', 72);
`

const cell = (page, text) => page.getByRole('gridcell', { name: text, exact: true })
const button = (page, name) => page.getByRole('button', { name, exact: true })

/** Opens a page that may write. */
async function open(t) {
  const db = await tempDatabase(t, SCHEMA)
  return { db, page: await openPage(t, await serve(t, db, { write: true })) }
}

/** Gives a cell of a grid another value. */
async function edit(page, from, to) {
  await cell(page, from).dblclick()
  await page.locator('.cell-editor input').fill(to)
  await page.keyboard.press('Enter')
}

// G372
test('what is staged during a commit stays staged', inBrowser, async (t) => {
  const { db, page } = await open(t)
  let release
  const released = new Promise((resolve) => {
    release = resolve
  })
  await page.route('**/api/edits', async (route) => {
    await released
    await route.continue()
  })
  await edit(page, 'Ada', 'Ada L.')
  const sent = page.waitForRequest('**/api/edits')
  await button(page, 'Commit as one batch').click()
  await sent
  await edit(page, 'Edsger', 'Edsger W.')
  await page.getByText('2 staged changes').waitFor()
  release()
  await page.getByText('1 staged change', { exact: true }).waitFor()
  assert.deepEqual(await page.locator('.cell.edited').allTextContents(), ['Edsger W.'])
  assert.deepEqual(await db.select('SELECT name FROM people', [], { arrays: true }), [
    ['Ada L.'],
    ['Grace'],
    ['Edsger'],
  ])
})

// G372
test('an open row does not stage again what was committed', inBrowser, async (t) => {
  const { db, page } = await open(t)
  await cell(page, 'Ada').click()
  await page.keyboard.press('Enter')
  await page.getByLabel('name', { exact: true }).fill('Ada L.')
  await button(page, 'Commit as one batch').click()
  await page.locator('.edit-bar').waitFor({ state: 'detached' })
  await db.execute("UPDATE people SET name = 'Ada B.' WHERE id = 1") // somebody else
  await cell(page, 'Ada B.').waitFor()
  assert.equal(await page.getByLabel('name', { exact: true }).inputValue(), 'Ada B.')
  await page.getByLabel('age', { exact: true }).fill('37')
  await button(page, 'Commit as one batch').click()
  await page.locator('.edit-bar').waitFor({ state: 'detached' })
  assert.deepEqual(await db.select('SELECT name, age FROM people WHERE id = 1'), [
    { name: 'Ada B.', age: 37 },
  ])
})

// G370
test('an open row shows a value that comes where NULL was', inBrowser, async (t) => {
  const { db, page } = await open(t)
  await cell(page, 'Grace').click()
  await page.keyboard.press('Enter')
  const age = page.getByLabel('age', { exact: true })
  await age.waitFor()
  assert.equal(await age.inputValue(), '')
  await db.execute('UPDATE people SET age = 85 WHERE id = 2')
  await cell(page, '85').waitFor()
  assert.equal(await age.inputValue(), '85')
  assert.equal(await page.getByLabel('storage class of age').inputValue(), 'integer')
})

// G372
test('what was wrong with a commit goes when the staged changes do', inBrowser, async (t) => {
  const { db, page } = await open(t)
  await edit(page, 'Ada', 'Ada L.')
  await edit(page, 'Edsger', 'Edsger W.')
  await db.execute('DELETE FROM people WHERE id = 3') // somebody else
  await button(page, 'Commit as one batch').click()
  await page.getByRole('alert').waitFor()
  assert.match(await page.locator('.staged .failed').textContent(), /Edsger W\./)
  await page.locator('.staged li').first().getByRole('button').click()
  await page.getByText('1 staged change', { exact: true }).waitFor()
  assert.equal(await page.locator('.staged .failed').count(), 0)
  await button(page, 'Discard').click()
  await edit(page, 'Ada', 'Ada L.')
  await page.locator('.edit-bar').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
})
