// docs/cluster.md names the tests that show each promise, and their entries in GUARANTEES: they exist.

import { ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesBelow, root } from '../lib/paths.mjs'

const read = (file) => readFileSync(join(root, file), 'utf8')
const promises = [...read('docs/cluster.md').matchAll(/^\| \*\*(\w\d)\*\* \|.*\| (.*) \|$/gm)]
const sources = [
  ...filesBelow(join(root, 'crates', 'resqlite-cluster'), /\.rs$/),
  ...filesBelow(join(root, 'scripts', 'cluster'), /\.test\.mjs$/),
].map((file) => readFileSync(file, 'utf8'))
const guarantees = read('docs/GUARANTEES.md')

test('the page has its promises', () => {
  ok(promises.length >= 9, `${promises.length} promises`)
})

for (const [, promise, shownBy] of promises) {
  test(`promise ${promise} is shown by tests that exist`, () => {
    const names = [...shownBy.matchAll(/`([^`]+)`/g)].flatMap(([, name]) =>
      name.startsWith('npm ') ? [] : name,
    )
    ok(names.length > 0, 'it names none')
    for (const name of names)
      ok(
        sources.some((text) => text.includes(`fn ${name}(`) || text.includes(`'${name}'`)),
        name,
      )
    for (const [number] of shownBy.matchAll(/G\d+/g)) ok(guarantees.includes(`**${number}**`), number)
  })
}
