import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inBrowser, openPage } from './support/browser.mjs'
import { serve, tempDatabase } from './support/studio.mjs'

const SCHEMA = `
  CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER);
  INSERT INTO people VALUES (1, 'Ada', 36), (2, 'Grace', 85), (3, 'Edsger', 72);
`
const MILLION = `
  CREATE TABLE events(id INTEGER PRIMARY KEY, payload TEXT);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
    INSERT INTO events SELECT i, 'event ' || i FROM n;
`

/** Replaces what is in the editor, as a keyboard would. */
async function write(page, text) {
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

const cell = (page, text) => page.getByRole('gridcell', { name: text, exact: true })

// G370
test(
  'a cell lights up when another process commits a change of it, and no other cell does',
  inBrowser,
  async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    const page = await openPage(t, await serve(t, db))
    await cell(page, 'Grace').waitFor()
    assert.equal(await page.locator('.lit').count(), 0)
    const lit = page.evaluate(
      () =>
        new Promise((resolve) => {
          const look = () => {
            const cells = [...document.querySelectorAll('.cell.lit')].map(({ textContent }) => textContent)
            if (cells.length > 0) resolve({ cells, at: Date.now() })
            else requestAnimationFrame(look)
          }
          look()
        }),
    )
    const script = fileURLToPath(new URL('./support/write.mjs', import.meta.url))
    const child = spawn(process.execPath, [script, db.path, 'UPDATE people SET age = 86 WHERE id = 2'])
    const [committed] = await once(child.stdout, 'data')
    const { cells, at } = await lit
    assert.deepEqual(cells, ['86'])
    t.diagnostic(`lit ${at - Number(committed)} ms after the commit`)
  },
)

test('a row that is inserted lights up as a whole, and one that is deleted is gone', inBrowser, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const page = await openPage(t, await serve(t, db))
  await cell(page, 'Edsger').waitFor()
  await db.exec("INSERT INTO people VALUES (4, 'Barbara', 84); DELETE FROM people WHERE id = 1")
  await cell(page, 'Barbara').waitFor()
  assert.deepEqual(await page.locator('.lit').allTextContents(), ['4', 'Barbara', '84'])
  assert.equal(await cell(page, 'Ada').count(), 0)
})

// G371
test(
  'a table of 1,000,000 rows scrolls: few elements, and each step of the server is bounded',
  inBrowser,
  async (t) => {
    const db = await tempDatabase(t, MILLION)
    const client = await serve(t, db)
    const page = await openPage(t, client)
    await cell(page, 'event 1').waitFor()
    await page.getByText('1,000,000 rows').waitFor()
    const asked = []
    const note = ({ sql, rows = 0 }) => asked.push({ sql, rows })
    subscribe('tracing:resqlite:query:asyncEnd', note)
    t.after(() => unsubscribe('tracing:resqlite:query:asyncEnd', note))
    const grid = page.locator('.grid')
    const elements = () => page.evaluate(() => document.querySelectorAll('.grid *').length)
    const rows = () => page.locator('.cell.text').allTextContents()
    const number = (text) => Number(text.slice('event '.length))

    // Step by step: every row comes after the one before it, in windows that follow each other by keys.
    let last = 0
    for (let step = 0; step < 40; step++) {
      await grid.evaluate((element) => element.scrollBy(0, 500))
      const first = Math.floor((await grid.evaluate(({ scrollTop }) => scrollTop)) / 26) + 2
      await cell(page, `event ${first + 20}`).waitFor() // not drawn before the step
      const seen = (await rows()).map(number)
      for (const [index, value] of seen.entries()) assert.equal(value, seen[0] + index)
      assert.ok(seen.at(-1) > last)
      last = seen.at(-1)
      assert.ok((await elements()) < 400)
    }
    // To the end, to the middle, and back to the beginning.
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await cell(page, 'event 1000000').waitFor()
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2))
    const middle = page.locator('.cell.text').filter({ hasText: /^event (49|50)\d{4}$/ })
    await middle.first().waitFor()
    await grid.evaluate((element) => element.scrollTo(0, 0))
    await cell(page, 'event 1').waitFor()
    assert.ok((await elements()) < 400)
    const ofGrid = asked.filter(({ sql }) => sql.includes('"events"') && !sql.includes('count(*)'))
    assert.ok(ofGrid.length > 0 && ofGrid.length < 60, `${ofGrid.length} statements`)
    for (const { sql, rows } of ofGrid)
      assert.ok(rows <= 300 && !sql.includes('OFFSET'), `${rows} rows: ${sql}`)
  },
)

test('keys move through a grid, and open a row', inBrowser, async (t) => {
  const page = await openPage(t, await serve(t, await tempDatabase(t, MILLION)))
  await cell(page, 'event 1').click()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('PageDown')
  await page.keyboard.press('Control+End')
  await cell(page, 'event 1000000').waitFor()
  await page.locator('.cell.active', { hasText: 'event 1000000' }).waitFor()
  await page.keyboard.press('Control+Home')
  await cell(page, 'event 1').waitFor()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('complementary', { name: 'row' })
  await panel.waitFor()
  assert.equal(await panel.getByLabel('payload').inputValue(), 'event 1')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
})

test('a filter narrows the rows, and an error in it is told', inBrowser, async (t) => {
  const page = await openPage(t, await serve(t, await tempDatabase(t, SCHEMA)))
  const filter = page.getByLabel('filter: a condition in SQL')
  await filter.fill('age > 80')
  await filter.press('Enter')
  await page.getByText('1 row', { exact: true }).waitFor()
  assert.deepEqual(await page.locator('.cell.text').allTextContents(), ['Grace'])
  await filter.fill('age >')
  await filter.press('Enter')
  await page.getByRole('alert').waitFor()
  await filter.press('Escape')
  await cell(page, 'Ada').waitFor()
})

// G369
test('names and values are text, whatever they contain', inBrowser, async (t) => {
  const attacks = [
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    '"><svg onload=alert(1)>',
    "'); alert(1); ('",
    'javascript:alert(1)',
    '{{constructor.constructor("alert(1)")()}}',
  ]
  const quoted = (name) => `"${name.replaceAll('"', '""')}"`
  const db = await tempDatabase(t, SCHEMA)
  for (const name of attacks) {
    await db.exec(`CREATE TABLE ${quoted(name)}(${quoted(name)} TEXT)`)
    for (const value of attacks) await db.execute(`INSERT INTO ${quoted(name)} VALUES (?)`, [value])
    await db.exec(`CREATE VIEW ${quoted(`view ${name}`)} AS SELECT ${quoted(name)} FROM ${quoted(name)}`)
    await db.exec(`CREATE INDEX ${quoted(`index ${name}`)} ON ${quoted(name)}(${quoted(name)})`)
  }
  for (const value of attacks) {
    const live = db.stream(`SELECT ${quoted(value)} FROM ${quoted(value)} WHERE ${quoted(value)} = ?`, [
      value,
    ])
    t.after(live.subscribe(() => {}))
  }
  const client = await serve(t, db)
  const page = await openPage(t, client)
  for (const name of attacks) {
    await page.getByRole('link', { name, exact: true }).click()
    for (const value of attacks) await cell(page, value).waitFor()
    assert.equal(await page.getByRole('columnheader').locator('.name').textContent(), name)
    await cell(page, attacks[0]).dblclick()
    await page.getByRole('complementary').waitFor()
  }
  for (const name of attacks) {
    await page.getByRole('link', { name: `view ${name}` }).click()
    await cell(page, attacks[1]).waitFor()
  }
  await page.getByRole('link', { name: 'Live queries' }).click()
  for (const value of attacks)
    await page
      .locator('td.sql-text', { hasText: quoted(value) })
      .first()
      .waitFor()
  await page.locator('td.sql-text').first().click()
  await page.getByRole('link', { name: 'SQL' }).click()
  await write(page, 'SELECT \'<img src=x onerror=alert(1)>\' AS "<svg onload=alert(1)>"')
  await page.keyboard.press('Control+Enter')
  await cell(page, '<img src=x onerror=alert(1)>').waitFor()
  await write(page, 'SELECT "<img src=x onerror=alert(1)>" FROM nowhere')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').waitFor()
  await write(page, 'SELECT 1 FROM "<img src=x onerror=alert(1)> gone"')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').getByText('no such table: <img src=x onerror=alert(1)> gone').waitFor()
  for (const name of attacks) {
    await write(page, `SELECT * FROM ${quoted(name)} WHERE ${quoted(name)} = 'x'`)
    await page.keyboard.press('Control+e')
    await page.locator('.plan .step', { hasText: `index ${name}` }).waitFor()
  }
  await page.getByRole('link', { name: 'Statements' }).click()
  await page.getByRole('link', { name: 'Engine' }).click()
  await page.locator('canvas').first().waitFor()
  assert.equal(await page.locator('img, svg, iframe, script:not([src])').count(), 0)
})

test('an address with a hostile route shows no table, and runs nothing', inBrowser, async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const page = await openPage(t, client)
  for (const hash of [
    '#/table/main/<img src=x onerror=alert(1)>',
    '#/table/%E0%A4%A/x',
    '#/constructor',
    '#/table/a/b/c',
  ]) {
    await page.evaluate((to) => location.assign(to), hash)
    await page
      .getByText(/No such table|rows|people/)
      .first()
      .waitFor()
  }
})

test('the token leaves the address, and without it the page asks for it', inBrowser, async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const page = await openPage(t, client)
  assert.ok(!page.url().includes(client.token))
  await page.evaluate(() => sessionStorage.clear())
  await page.reload()
  await page.getByLabel('address or token').fill(client.url)
  await page.getByRole('button', { name: 'Open' }).click()
  await cell(page, 'Ada').waitFor()
})

// G373
test('the inspector shows a storm of re-runs that find nothing new, and why', inBrowser, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  // No condition on a plain column: each commit makes it run again, and none changes what it finds.
  t.after(db.stream('SELECT id FROM people WHERE lower(name) = ?', ['nobody']).subscribe(() => {}))
  t.after(db.stream('SELECT age FROM people WHERE id = ?', [1]).subscribe(() => {}))
  const page = await openPage(t, await serve(t, db), '#/live')
  await page.locator('tbody tr').nth(1).waitFor()
  let stopped = false
  const storm = (async () => {
    for (let i = 0; !stopped; i++) {
      await db.execute('UPDATE people SET name = ? WHERE id = 2', [`Grace ${i}`])
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const row = page.locator('tr[data-storm="true"]')
  await row.waitFor()
  stopped = true
  await storm
  assert.match(await row.textContent(), /lower\(name\)/)
  assert.equal(await row.count(), 1)
  await page.getByText('1 storm').waitFor()
  await row.click()
  const panel = page.getByRole('complementary', { name: 'live query' })
  await panel.getByText('finds nothing new').waitFor()
  await panel.getByText(/Not finer: no AND-ed condition/).waitFor()
})

test(
  'an editor completes names, marks errors where they are, runs, and shows a plan as a tree',
  inBrowser,
  async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    const page = await openPage(t, await serve(t, db), '#/sql')
    await write(page, 'SELECT nme FROM people')
    assert.equal(await page.locator('.cm-lintRange-error').textContent(), 'nme')
    await write(page, 'SELECT count(*) FROM people WHERE ag')
    await page.keyboard.press('Control+Space')
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'people integer' }).waitFor()
    await page.keyboard.press('Escape')
    await write(page, 'SELECT name, age FROM peo')
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Control+Space')
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'people' }).click()
    await page.keyboard.press('Control+Enter')
    await cell(page, 'Edsger').waitFor()
    await page.getByText(/^3 rows in/).waitFor()
    await write(page, 'SELECT * FROM people WHERE id IN (SELECT max(id) FROM people GROUP BY age)')
    await page.keyboard.press('Control+e')
    await page.locator('.plan .plan .step.sort', { hasText: 'USE TEMP B-TREE' }).waitFor()
    await page.getByText('As a live query').waitFor()
  },
)

// G372
test(
  'edits are staged, reviewed and committed as one commit; a failed batch stays staged',
  inBrowser,
  async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    const page = await openPage(t, await serve(t, db, { write: true }))
    const edit = async (name, field, value) => {
      await cell(page, name).click()
      await page.keyboard.press('Enter')
      await page.getByLabel(field, { exact: true }).fill(value)
      await page.keyboard.press('Escape')
    }
    const before = (await db.diagnostics()).lastCommit
    await edit('Ada', 'age', '37')
    await edit('Grace', 'age', '86')
    await page.getByText('2 staged changes').waitFor()
    assert.deepEqual(await page.locator('.cell.edited').allTextContents(), ['37', '86'])
    assert.equal((await db.diagnostics()).lastCommit, before)

    await db.execute('DELETE FROM people WHERE id = 2') // somebody else
    await page.getByRole('button', { name: 'Commit as one batch' }).click()
    await page.getByRole('alert').getByText('the row is not there any more').waitFor()
    assert.deepEqual(await db.select('SELECT age FROM people WHERE id = 1'), [{ age: 36 }])
    assert.match(await page.locator('.staged .failed').textContent(), /age = 86/)
    await page.locator('.staged .failed').getByRole('button').click()
    await page.getByRole('button', { name: 'Commit as one batch' }).click()
    await page.locator('.edit-bar').waitFor({ state: 'detached' })
    assert.deepEqual(await db.select('SELECT age FROM people WHERE id = 1'), [{ age: 37 }])
    assert.equal((await db.diagnostics()).lastCommit, before + 2)
  },
)

// G367
test('without write, a row can be read and not edited', inBrowser, async (t) => {
  const page = await openPage(t, await serve(t, await tempDatabase(t, SCHEMA)))
  await cell(page, 'Ada').dblclick()
  await page.getByLabel('name', { exact: true }).waitFor()
  assert.equal(await page.getByLabel('name', { exact: true }).isEditable(), false)
  assert.equal(await page.getByRole('button', { name: /New row|Stage/ }).count(), 0)
})

test('tables that come and go are seen at once', inBrowser, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const page = await openPage(t, await serve(t, db))
  await db.exec('CREATE TABLE fresh(x); INSERT INTO fresh VALUES (1)')
  await page.getByRole('link', { name: 'fresh' }).click()
  await page.getByText('1 row', { exact: true }).waitFor()
  await db.exec('DROP TABLE fresh')
  await page.getByText('No such table').waitFor()
})

test('a page says that the connection is lost when the database was closed', inBrowser, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const page = await openPage(t, await serve(t, db))
  await cell(page, 'Ada').waitFor()
  await db.close()
  await page.locator('.foot .state.stale, .notice').first().waitFor()
})
