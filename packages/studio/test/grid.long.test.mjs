import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBrowser, openPage } from './support/browser.mjs'
import { serve, tempDatabase } from './support/studio.mjs'

const SCHEMA = `
  CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, twice AS (age * 2));
  INSERT INTO people VALUES (1, 'Ada', 36), (2, 'Grace', 85), (3, 'Edsger', 72);
`
const KEYED = `
  CREATE TABLE keyed(x TEXT PRIMARY KEY, y TEXT) WITHOUT ROWID;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO keyed SELECT printf('k%06d', i), 'old' FROM n;
`

const cell = (page, text) => page.getByRole('gridcell', { name: text, exact: true })
const head = (page, name) => page.getByRole('columnheader', { name })

/** Waits until the names are in this order. */
async function names(page, ...expected) {
  await page.waitForFunction(
    (wanted) =>
      [...document.querySelectorAll('.cell.text')].map((cell) => cell.textContent).join() === wanted,
    expected.join(),
  )
}

// G375
test('a click on the name of a column sorts by it, up, down, and no more', inBrowser, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const page = await openPage(t, await serve(t, db))
  await names(page, 'Ada', 'Grace', 'Edsger')
  await head(page, 'age').click()
  await names(page, 'Ada', 'Edsger', 'Grace')
  assert.equal(await head(page, 'age').getAttribute('aria-sort'), 'ascending')
  await head(page, 'age').click()
  await names(page, 'Grace', 'Edsger', 'Ada')
  assert.equal(await head(page, 'age').getAttribute('aria-sort'), 'descending')
  await db.execute('UPDATE people SET age = 90 WHERE id = 1')
  await names(page, 'Ada', 'Grace', 'Edsger')
  assert.deepEqual(await page.locator('.lit').allTextContents(), ['90', '180'])
  await db.execute('UPDATE people SET age = 20 WHERE id = 1')
  await names(page, 'Grace', 'Edsger', 'Ada')
  await head(page, 'age').click()
  await names(page, 'Ada', 'Grace', 'Edsger')
  assert.equal(await head(page, 'age').getAttribute('aria-sort'), null)
})

// G375
test('only the first button of the mouse sorts', inBrowser, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const page = await openPage(t, await serve(t, db))
  await names(page, 'Ada', 'Grace', 'Edsger')
  await head(page, 'age').click({ button: 'right' })
  await head(page, 'age').click({ button: 'middle' })
  await head(page, 'age').click()
  await page.locator('[role=columnheader][aria-sort]').waitFor()
  assert.equal(await head(page, 'age').getAttribute('aria-sort'), 'ascending')
})

// G371
test('Control+End leads to the last row of a table without rowids', inBrowser, async (t) => {
  const db = await tempDatabase(t, KEYED)
  const page = await openPage(t, await serve(t, db))
  await cell(page, 'k000001').click()
  await page.getByText('5,000 rows').waitFor()
  await page.keyboard.press('Control+End')
  await cell(page, 'k005000').waitFor()
  await page.locator('.cell.active', { hasText: 'old' }).waitFor()
})

// G371
test('a window that is refused is asked for once, and the old one stays live', inBrowser, async (t) => {
  const db = await tempDatabase(t, KEYED)
  const page = await openPage(t, await serve(t, db))
  await cell(page, 'k000001').waitFor()
  await page.getByText('5,000 rows').waitFor()
  let asked = 0
  await page.route('**/live/rows?*', (route) => {
    asked++
    return route.fulfill({ status: 401, json: { message: 'no' } })
  })
  await page.locator('.grid').evaluate((element) => element.scrollTo(0, 270 * 26))
  await page.getByRole('alert').waitFor()
  for (let trip = 0; trip < 20; trip++) await page.evaluate(async () => void (await fetch('icon.svg')))
  assert.ok(asked <= 2, `${asked} times`)
  await db.execute("UPDATE keyed SET y = 'new' WHERE x = 'k000280'")
  await cell(page, 'new').waitFor()
})

// G370
test('rows are shown also if they could not be counted', inBrowser, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  const page = await openPage(t, client, '#/sql')
  let fails = true
  await page.route('**/api/count', (route) =>
    fails ? route.fulfill({ status: 422, json: { message: 'not now' } }) : route.continue(),
  )
  await page.getByRole('link', { name: 'people' }).click()
  await page.getByRole('alert').getByText('not now').waitFor()
  await names(page, 'Ada', 'Grace', 'Edsger')
  fails = false
  await db.execute('UPDATE people SET age = 37 WHERE id = 1')
  await page.getByText('3 rows').waitFor()
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

// G377
test('the keyboard alone sorts, edits a cell and commits', inBrowser, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const page = await openPage(t, await serve(t, db, { write: true }))
  await cell(page, 'Ada').waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
  const reach = async (is) => {
    for (let presses = 0; presses < 30; presses++) {
      if (await is()) return
      await page.keyboard.press('Tab')
    }
    throw new Error('Tab does not lead there')
  }
  await reach(() => page.evaluate(() => document.activeElement?.getAttribute('role') === 'grid'))
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('s')
  await names(page, 'Ada', 'Edsger', 'Grace')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('F2')
  await page.getByLabel('new value of name').waitFor()
  await page.keyboard.type('Edsger W.')
  await page.keyboard.press('Enter')
  await page.getByText('1 staged change').waitFor()
  assert.deepEqual(await page.locator('.cell.edited').allTextContents(), ['Edsger W.'])
  await reach(async () => (await focused()) === 'Commit as one batch')
  await page.keyboard.press('Enter')
  await page.locator('.edit-bar').waitFor({ state: 'detached' })
  assert.deepEqual(await db.select('SELECT name FROM people WHERE id = 3'), [{ name: 'Edsger W.' }])
})

// G376
test(
  'a cell is edited where it stands, and what does not fit is said and not staged',
  inBrowser,
  async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    const page = await openPage(t, await serve(t, db, { write: true }))
    const before = (await db.diagnostics()).lastCommit
    const editor = page.getByLabel('new value of age')
    await cell(page, '36').dblclick()
    await editor.fill('old')
    await page.getByText('An INTEGER is a sign and up to 19 digits.').waitFor()
    await editor.press('Enter')
    assert.equal(await editor.getAttribute('aria-invalid'), 'true')
    await editor.press('Escape')
    await editor.waitFor({ state: 'detached' })
    assert.equal(await page.locator('.edit-bar').count(), 0)
    await cell(page, '36').dblclick()
    await editor.fill('37')
    await cell(page, '85').dblclick()
    await editor.fill('86')
    await editor.press('Tab')
    await page.getByText('2 staged changes').waitFor()
    assert.equal((await db.diagnostics()).lastCommit, before)
    await page.getByRole('button', { name: 'Commit as one batch' }).click()
    await page.locator('.edit-bar').waitFor({ state: 'detached' })
    assert.equal((await db.diagnostics()).lastCommit, before + 1)
    assert.deepEqual(await db.select('SELECT age FROM people WHERE id < 3', [], { arrays: true }), [
      [37],
      [86],
    ])
  },
)

// G376
test(
  'a generated column is not edited where it stands, and without write nothing is',
  inBrowser,
  async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    const writing = await openPage(t, await serve(t, db, { write: true }))
    await cell(writing, '85').dblclick()
    await writing.getByLabel('new value of age').waitFor()
    await writing.keyboard.press('Escape')
    await cell(writing, '170').dblclick()
    await writing.getByRole('complementary', { name: 'row' }).waitFor()
    const reading = await openPage(t, await serve(t, db))
    await cell(reading, '36').dblclick()
    await reading.getByRole('complementary', { name: 'row' }).waitFor()
    assert.equal(await reading.locator('.cell-editor').count(), 0)
  },
)
