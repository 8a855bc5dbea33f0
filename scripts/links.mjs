// Checks that every relative link of a Markdown file leads to a file that exists and, with a #fragment, to one of its
// headings, and that the files which the map of the code names exist. Runs in npm test, or alone: node scripts/links.mjs

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { filesBelow, root } from './lib/paths.mjs'
import { CommandFailed, runAsProgram } from './lib/process.mjs'

const skipped = ['.git', 'node_modules', 'target']

/** Documents that name files in code, as in `writer/group.rs`, and the folders that the names start from. */
const maps = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...filesBelow(join(root, 'docs', 'design'), /\.md$/).map((file) => relative(root, file)),
]
const starts = ['', 'crates', 'crates/resqlite/src', 'packages/resqlite/src']

/** Throws a CommandFailed that lists every link that leads nowhere. */
export function checkLinks() {
  if (!existsSync(join(root, 'docs', 'api.md')))
    throw new CommandFailed('docs/api.md is missing, to which documents link: run npm run docs:api')
  const files = readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => !skipped.includes(name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(root, entry.name), /\.md$/) : join(root, entry.name),
    )
    .filter((file) => file.endsWith('.md'))
  const links = [...files.flatMap(linksOf), ...maps.flatMap((map) => filesNamedBy(join(root, map)))]
  const broken = links.filter((link) => !leadsSomewhere(link))
  if (broken.length > 0) throw new CommandFailed(broken.map(report).join('\n'))
  console.log(`${files.length} files, ${links.length} links`)
}

/** The relative links of a file: `[text](target)`, outside of code. */
function linksOf(file) {
  return linesOutsideCode(file).flatMap(({ text, number }) =>
    [...text.replace(/`[^`]*`/g, '').matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, target]) => ({
      file,
      number,
      target,
    })),
  )
}

/** The files that a map names: `path/file.ext`, from one of several folders. */
function filesNamedBy(map) {
  return linesOutsideCode(map).flatMap(({ text, number }) =>
    [...text.matchAll(/`((?:[\w.-]+\/)+[\w-]+\.(?:rs|ts|mjs|md|sh))`/g)].map(([, named]) => {
      const start = starts.find((folder) => existsSync(join(root, folder, named)))
      const target = join(root, start ?? '', named)
      return { file: map, number, target: relative(dirname(map), target) }
    }),
  )
}

function linesOutsideCode(file) {
  let code = false
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      const fence = /^\s*```/.test(text)
      if (fence) code = !code
      return fence || code ? [] : [{ text, number: index + 1 }]
    })
}

function leadsSomewhere({ file, target }) {
  const [path, anchor] = target.split('#')
  const destination = path ? join(dirname(file), decodeURI(path)) : file
  if (!existsSync(destination)) return false
  return !anchor || !destination.endsWith('.md') || anchorsOf(destination).has(anchor)
}

/** The anchor that GitHub gives to a heading. */
export function slugOf(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

/** The anchors of the headings of a file, in which GitHub numbers those that are equal. */
function anchorsOf(file) {
  const anchors = new Set()
  for (const { text } of linesOutsideCode(file)) {
    const [, title] = /^#{1,6} (.+)$/.exec(text) ?? []
    if (!title) continue
    const slug = slugOf(title)
    let anchor = slug
    for (let copy = 1; anchors.has(anchor); copy++) anchor = `${slug}-${copy}`
    anchors.add(anchor)
  }
  return anchors
}

function report({ file, number, target }) {
  return `${relative(root, file)}:${number}: ${target} leads nowhere`
}

await runAsProgram(import.meta.url, checkLinks)
