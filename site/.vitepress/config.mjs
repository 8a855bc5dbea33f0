import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { withMermaid } from 'vitepress-plugin-mermaid'
import { root } from '../../scripts/lib/paths.mjs'
import { slugOf } from '../../scripts/links.mjs'
import { drawCharts } from '../charts.mjs'
import { followFiles } from '../links.mjs'
import { addressOf, files, otherFolders, pageOf, sections, titleOf } from '../pages.mjs'
import { searchOptions } from '../search.mjs'

const { version, repository } = JSON.parse(
  readFileSync(resolve(root, 'packages/resqlite/package.json'), 'utf8'),
)
/** The tags of the versions that are released. */
const { stdout: tags } = spawnSync('git', ['tag', '--list', 'v*', '--sort=-v:refname'], {
  cwd: root,
  encoding: 'utf8',
})
const home = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

export default withMermaid({
  title: 'resqlite',
  description: 'SQLite for Node.js programs that must never stall',
  lang: 'en',
  srcDir: root,
  srcExclude: otherFolders().map((folder) => `${folder}/**`),
  outDir: resolve(root, 'site/dist'),
  rewrites: Object.fromEntries(files.map((file) => [file, pageOf(file)])),
  cleanUrls: true,
  markdown: {
    anchor: { slugify: slugOf },
    theme: { light: 'github-light', dark: 'github-dark' },
    config: (markdown) => {
      drawCharts(markdown)
      followFiles(markdown, `${home}/blob/HEAD`)
    },
  },
  themeConfig: {
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: { searchOptions } } },
    socialLinks: [{ icon: 'github', link: home }],
    nav: [
      { text: 'Guide', link: '/using' },
      { text: 'API', link: '/api' },
      {
        text: version,
        items: [
          { text: `Changes of ${version}`, link: '/CHANGELOG' },
          ...tags
            .split('\n')
            .filter(Boolean)
            .map((tag) => ({ text: tag, link: `${home}/tree/${tag}/docs` })),
        ],
      },
    ],
    sidebar: sections.map(({ title, files }) => ({
      text: title,
      collapsed: false,
      items: files.map((file) => ({ text: titleOf(file), link: addressOf(file) })),
    })),
  },
})
