// A magazine with Payload, without its pages: authors, articles and their versions, and a list of what is published that is always up to
// date. `node payload.js` needs the package.json beside it.

import { sqliteAdapter } from '@payloadcms/db-sqlite'
import { buildConfig, getPayload } from 'payload'
import { Database } from 'resqlite'

const file = process.argv[2] ?? 'magazine.db'
const config = buildConfig({
  secret: 'only for this example',
  telemetry: false,
  logger: { options: { level: 'error' } },
  db: sqliteAdapter({ client: { url: `file:${file}`, errorCodes: 'extended' } }),
  collections: [
    { slug: 'users', auth: true, fields: [] },
    { slug: 'authors', fields: [{ name: 'name', type: 'text', unique: true, required: true }] },
    {
      slug: 'articles',
      versions: { drafts: true },
      fields: [
        { name: 'title', type: 'text', required: true },
        { name: 'author', type: 'relationship', relationTo: 'authors' },
        { name: 'tags', type: 'array', fields: [{ name: 'tag', type: 'text' }] },
      ],
    },
  ],
})
const payload = await getPayload({ config, disableOnInit: true })
for (const collection of ['articles', 'authors', 'users']) await payload.delete({ collection, where: {} })

// A live query on the same file.
const database = await Database.open(file)
const published = database
  .stream("SELECT title FROM articles WHERE _status = 'published' ORDER BY title")
  .values()
const shown = async () => {
  const { value } = await published.next()
  console.log(`live: ${value.map(({ title }) => title).join(', ') || 'nothing'}`)
}
await shown()

const ada = await payload.create({ collection: 'authors', data: { name: 'Ada' } })
await payload
  .create({ collection: 'authors', data: { name: 'Ada' } })
  .catch(({ name, data }) => console.log(name, data.errors[0].path))
const { id } = await payload.create({
  collection: 'articles',
  data: { title: 'Notes', author: ada.id, tags: [{ tag: 'engines' }, { tag: 'numbers' }] },
  draft: true,
})
await payload.update({ collection: 'articles', id, data: { _status: 'published' } })
await shown()
const {
  docs: [article],
} = await payload.find({ collection: 'articles', where: { 'author.name': { equals: 'Ada' } } })
console.log(
  article.title,
  'by',
  article.author.name,
  article.tags.map(({ tag }) => tag),
)
console.log(
  (await payload.findVersions({ collection: 'articles', where: { parent: { equals: id } } })).totalDocs,
  'versions',
)
const user = { email: 'ada@example.org', password: 'analytical engine' }
await payload.create({ collection: 'users', data: user })
console.log((await payload.login({ collection: 'users', data: user })).user.email)
await published.return()
await database.close()
await payload.destroy()
