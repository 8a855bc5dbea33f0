import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBrowser, openPage } from './support/browser.mjs'
import { weakTexts } from './support/contrast.mjs'
import { serve, tempDatabase } from './support/studio.mjs'

const SCHEMA = `
  CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, photo BLOB, note TEXT);
  CREATE TABLE bare(a);
  CREATE VIEW old AS SELECT name FROM people WHERE age > 80;
  INSERT INTO people VALUES (1, 'Ada', 36, NULL, NULL), (2, 'Grace', 85, x'00ff', 'a note'), (3, 'Edsger', 72, NULL, '');
`

/** Opens each view in turn, with what it can show. */
async function tour(page, look) {
  const go = (hash) => page.evaluate((to) => location.assign(to), hash)
  const cell = (text) => page.getByRole('gridcell', { name: text, exact: true })
  await go('#/table/main/people')
  await cell('Ada').dblclick()
  await page.getByLabel('new value of name').fill('Ada L.')
  await look('a cell that is edited')
  await page.keyboard.press('Enter')
  await cell('Grace').click()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Stage deletion' }).click()
  await look('a row that is open')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Review' }).click()
  await look('staged changes')
  await page.getByRole('button', { name: 'Discard' }).click()
  await go('#/table/main/bare')
  await page.getByText('No rows').waitFor()
  await look('a table without rows')
  await go('#/sql')
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('SELECT nme FROM people')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').waitFor()
  await look('an error of SQL')
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('SELECT name FROM people ORDER BY age')
  await page.locator('.cm-content', { hasText: /^SELECT name FROM people ORDER BY age$/ }).waitFor()
  await page.keyboard.press('Control+e')
  await page.locator('.plan .sort').waitFor()
  await look('a plan')
  await go('#/live')
  await page.locator('tbody tr').first().click()
  await page.getByRole('complementary', { name: 'live query' }).waitFor()
  await look('a live query')
  await page.keyboard.press('Escape')
  for (const view of ['engine', 'statements']) {
    await go(`#/${view}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await look(view)
  }
}

for (const colorScheme of ['light', 'dark']) {
  for (const [width, height] of [
    [1200, 720],
    [420, 760],
  ]) {
    // G380
    test(`all text can be read, and nothing is wider than the page: ${colorScheme}, ${width} pixels`, {
      ...inBrowser,
      timeout: 120_000,
    }, async (t) => {
      const db = await tempDatabase(t, SCHEMA)
      t.after(db.stream('SELECT id FROM people WHERE lower(name) = ?', ['x']).subscribe(() => {}))
      const client = await serve(t, db, { write: true })
      const page = await openPage(t, client, '', { viewport: { width, height }, colorScheme })
      await tour(page, async (what) => {
        assert.deepEqual(await page.evaluate(weakTexts), [], what)
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), what)
      })
    })
  }
}
