// Stored runs → one HTML file that needs nothing else: no network, no server, no build.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { modelOf } from './model.mjs'

const require = createRequire(import.meta.url)
const here = import.meta.dirname

/** What runs in the page, each after what it imports. They become one script, so their top-level names must differ. */
const modules = [
  '../wording.mjs',
  'client/dom.mjs',
  'client/charts.mjs',
  'client/benchmark.mjs',
  'client/live.mjs',
  'client/tables.mjs',
  'client/releases.mjs',
  'client/head.mjs',
  'client/page.mjs',
]

/** Writes the page about `runs` (stored runs, newest last) to the file `out`. */
export async function makePage(runs, { out }) {
  mkdirSync(dirname(out), { recursive: true })
  writeFileSync(out, pageOf(runs))
}

/** The page as text. */
export function pageOf(runs) {
  const data = JSON.stringify(modelOf(runs)).replaceAll('<', '\\u003c')
  const own = modules.map(text).map(withoutImports).join('\n')
  const parts = {
    style: `<style>\n${text('page.css')}</style>`,
    data: `<script type="application/json" id="data">${data}</script>`,
    scripts: [
      script(library('d3', 'd3.min.js')),
      script(library('@observablehq/plot', 'plot.umd.min.js')),
      script(own, ' type="module"'),
    ].join('\n'),
  }
  return text('page.html').replace(/<!-- (\w+) -->/g, (_, part) => parts[part])
}

const text = (path) => readFileSync(join(here, path), 'utf8')

/** Their packages do not export the minified form: it lies beside the main file, or in `dist` above `src`. */
const library = (name, file) =>
  readFileSync(join(require.resolve(name).replace(/(.*[\\/])(src|dist)[\\/].*$/, '$1'), 'dist', file), 'utf8')

/** A script element that nothing in its code can end. */
const script = (code, type = '') =>
  `<script${type}>\n${code.replaceAll(/<(?=\/script|!--)/gi, '\\x3c')}\n</script>`

const withoutImports = (code) =>
  code.replaceAll(/^import [^']*'[^']+'\n/gm, '').replaceAll(/^export (?=const|function)/gm, '')
