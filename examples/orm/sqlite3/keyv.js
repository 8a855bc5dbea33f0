// A cache in a file with keyv, which asks for sqlite3 by its name. `node keyv.js` needs the package.json beside it.

import KeyvSqlite from '@keyv/sqlite'
import Keyv from 'keyv'

const cache = new Keyv({ store: new KeyvSqlite(`sqlite://${process.argv[2] ?? 'cache.db'}`) })
cache.on('error', (error) => console.error(error))

await cache.clear()
await cache.set('user:1', { name: 'Ada', tags: ['"quoted"', "it's"] })
await cache.set('user:1', { name: 'Ada', tags: ['"quoted"'] })
await cache.set('gone', 'soon', 1)
console.log(await cache.get('user:1'))
await new Promise((resolve) => setTimeout(resolve, 5))
console.log(await cache.get('gone'), await cache.has('user:1'))
console.log(await cache.delete('user:1'), await cache.get('user:1'))
await cache.disconnect()
