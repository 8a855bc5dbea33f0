// node site/check.mjs [base]: checks the site that was built for a base address: each link leads to a page of it and to a heading
// there, each page is in the menu, and the search finds each heading.

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { JSDOM } from 'jsdom'
import MiniSearch from 'minisearch'
import { root } from '../scripts/lib/paths.mjs'
import { addressOf, files, pageOf, unlisted } from './pages.mjs'
import { searchOptions } from './search.mjs'

const dist = resolve(root, 'site', 'dist')
/** The number of results that the search box shows: a heading must be among them for its own words. */
const SHOWN_RESULTS = 16

const [base = '/'] = process.argv.slice(2)
const pages = new Map(files.map((file) => [base + addressOf(file).slice(1), read(file)]))
const errors = [
  ...unlisted().map((file) => `${file} is not in site/pages.mjs`),
  ...[...pages].flatMap(([address, page]) => deadLinks(address, page)),
  ...(await lostHeadings()),
]
for (const error of errors) console.error(error)
if (errors.length > 0) process.exitCode = 1
else
  console.log(
    `${pages.size} pages, ${count('links')} links, ${count('headings')} headings that the search finds`,
  )

function read(file) {
  const html = readFileSync(join(dist, pageOf(file).replace(/\.md$/, '.html')), 'utf8')
  const { document } = new JSDOM(html).window
  const all = (selector) => [...document.querySelectorAll(selector)]
  return {
    links: all('a[href]').map((link) => link.getAttribute('href')),
    anchors: new Set(all('[id]').map(({ id }) => id)),
    headings: all('.vp-doc :is(h1, h2, h3, h4)').map(({ id, textContent }) => ({
      id,
      text: textContent.replace('\u200B', '').trim(),
    })),
  }
}

function count(part) {
  return [...pages.values()].reduce((sum, page) => sum + page[part].length, 0)
}

function deadLinks(address, { links }) {
  return links
    .filter((link) => !/^\w+:/.test(link))
    .filter((link) => {
      const [path, anchor] = link.split('#')
      const target = pages.get(path || address)
      return (
        target === undefined ||
        (anchor && !target.anchors.has(decodeURIComponent(anchor)) && anchor !== 'VPContent')
      )
    })
    .map((link) => `${address}: ${link} leads nowhere`)
}

async function lostHeadings() {
  const folder = join(dist, 'assets', 'chunks')
  const name = readdirSync(folder).find((file) => file.startsWith('@localSearchIndexroot'))
  const { default: index } = await import(pathToFileURL(join(folder, name)).href)
  const search = MiniSearch.loadJSON(index, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions,
  })
  return [...pages].flatMap(([address, { headings }]) =>
    headings
      .filter(({ id, text }) => {
        const found = search.search(text).slice(0, SHOWN_RESULTS)
        return !found.some((result) => result.id === `${address}#${id}`)
      })
      .map(({ text }) => `${address}: the search does not find "${text}"`),
  )
}
