// Accounts with better-auth, and a list of who is signed in that is always up to date. `node better-auth.js` needs the package.json
// beside it.

import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { Database } from 'resqlite'
import { ResqliteDialect } from 'resqlite/kysely'

const database = await Database.open(process.argv[2] ?? 'accounts.db')
const auth = betterAuth({
  baseURL: 'http://localhost:3000',
  secret: 'only-for-this-example-0123456789abcdef',
  database: { dialect: new ResqliteDialect({ database }), type: 'sqlite', transaction: true },
  emailAndPassword: { enabled: true },
  logger: { disabled: true },
})
await (await getMigrations(auth.options)).runMigrations()
await database.exec('DELETE FROM user; DELETE FROM session; DELETE FROM account')

// A live query on the tables of better-auth.
const sessions = database
  .stream(`
    SELECT name, count(*) AS n FROM session JOIN user ON user.id = session.userId GROUP BY user.id ORDER BY name`)
  .values()
const shown = async () => {
  const { value } = await sessions.next()
  console.log(`live: ${value.map(({ name, n }) => `${name} ${n}`).join(', ') || 'nobody'}`)
}
await shown()

/** The request of a browser. */
async function post(path, body, cookie = '') {
  const headers = { 'content-type': 'application/json', origin: 'http://localhost:3000', cookie }
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  return await auth.handler(new Request(`http://localhost:3000/api/auth/${path}`, request))
}
const ada = { name: 'Ada', email: 'ada@example.org', password: 'analytical engine' }
const grace = { name: 'Grace', email: 'grace@example.org', password: 'a moth, taped in' }
console.log(`sign up: ${(await post('sign-up/email', ada)).status}`)
await shown()
console.log(`again: ${(await post('sign-up/email', ada)).status}`)
await post('sign-up/email', grace)
await shown()

const { headers } = await post('sign-in/email', { email: ada.email, password: ada.password })
await shown()
console.log(`wrong password: ${(await post('sign-in/email', { ...grace, password: 'a bug' })).status}`)

const cookie = headers
  .getSetCookie()
  .map((line) => line.split(';')[0])
  .join('; ')
const session = () => auth.api.getSession({ headers: new Headers({ cookie }) })
console.log(`session: ${(await session()).user.email}`)
await post('sign-out', {}, cookie)
await shown()
console.log(`session: ${await session()}`)
await sessions.return()
await database.close()
