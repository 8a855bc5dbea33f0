// The links of the documents lead to other files of the repository. On the site, they lead to the page that shows the file, or to
// the repository if no page does.

import { posix, relative } from 'node:path'
import { root } from '../scripts/lib/paths.mjs'
import { addressOf, files, pageOf } from './pages.mjs'

/** A plugin of markdown-it. `repository`: the address that the path of a file is appended to. */
export function followFiles(markdown, repository) {
  markdown.core.ruler.push('follow-files', ({ tokens, env }) => {
    const document = documentOf(env.path)
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue
      token.attrSet('href', target(token.attrGet('href'), document, repository))
    }
  })
}

/** The generator names a document by its path, and a page by the path that it would have if it were a document. */
function documentOf(path) {
  const name = relative(root, path).replaceAll('\\', '/')
  return files.find((file) => pageOf(file) === name) ?? name
}

function target(href, document, repository) {
  if (/^(\w+:|#)/.test(href)) return href
  const [path, anchor] = href.split('#')
  const file = posix.normalize(posix.join(posix.dirname(document), path))
  const fragment = anchor ? `#${anchor}` : ''
  return (files.includes(file) ? addressOf(file) : `${repository}/${file}`) + fragment
}
