// Sign-in by a link in a mail with Auth.js, through its adapter for Drizzle, and a list of who is signed in that is always up to date.
// `node auth-js.js` needs the package.json beside it.

import { Auth } from '@auth/core'
import { DrizzleAdapter } from '@auth/drizzle-adapter'
import { Database } from 'resqlite'
import { createClient } from 'resqlite/libsql'
import { drizzle } from 'resqlite/libsql/drizzle'

const database = await Database.open(process.argv[2] ?? 'members.db')
await database.exec(`
  DROP TABLE IF EXISTS session; DROP TABLE IF EXISTS account; DROP TABLE IF EXISTS user; DROP TABLE IF EXISTS verificationToken;
  CREATE TABLE user(id TEXT PRIMARY KEY, name TEXT, email TEXT UNIQUE, emailVerified INTEGER, image TEXT);
  CREATE TABLE session(sessionToken TEXT PRIMARY KEY, userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE, expires INTEGER NOT NULL);
  CREATE TABLE account(userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE, type TEXT NOT NULL, provider TEXT NOT NULL,
    providerAccountId TEXT NOT NULL, refresh_token TEXT, access_token TEXT, expires_at INTEGER, token_type TEXT, scope TEXT,
    id_token TEXT, session_state TEXT, PRIMARY KEY (provider, providerAccountId));
  CREATE TABLE verificationToken(identifier TEXT NOT NULL, token TEXT NOT NULL, expires INTEGER NOT NULL,
    PRIMARY KEY (identifier, token));`)

const mails = []
const mail = { id: 'mail', type: 'email', sendVerificationRequest: ({ url }) => mails.push(url) }
const config = {
  adapter: DrizzleAdapter(drizzle({ client: createClient({ database }) })),
  basePath: '/auth',
  logger: { error: ({ type }) => console.log(`refused: ${type}`) },
  providers: [mail],
  secret: 'only for this example',
  trustHost: true,
}

/** Keeps cookies, as a browser does. */
class Browser {
  #cookies = new Map()

  async open(path, form) {
    const headers = { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
    const sent = form ? { method: 'POST', headers, body: new URLSearchParams(form) } : { headers }
    const response = await Auth(new Request(new URL(path, 'http://localhost:3000'), sent), config)
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^(.*?)=(.*?);/.exec(cookie)
      this.#cookies.set(name, value)
    }
    return response
  }

  async send(path, form) {
    const { csrfToken } = await (await this.open('/auth/csrf')).json()
    return await this.open(path, { csrfToken, ...form })
  }

  async session() {
    return await (await this.open('/auth/session')).json()
  }
}

// A live query on the tables of Auth.js.
const sessions = database
  .stream('SELECT email FROM session JOIN user ON user.id = session.userId ORDER BY email')
  .values()
const shown = async () => {
  const { value } = await sessions.next()
  console.log(`live: ${value.map(({ email }) => email).join(', ') || 'nobody'}`)
}
await shown()

const [ada, grace] = [new Browser(), new Browser()]
await ada.send('/auth/signin/mail', { email: 'ada@example.org' })
const link = mails.pop()
await ada.open(link)
await shown()
await grace.send('/auth/signin/mail', { email: 'grace@example.org' })
await grace.open(mails.pop())
await shown()

console.log(`session: ${(await ada.session()).user.email}`)
await new Browser().open(link) // a second time
await ada.send('/auth/signout', {})
await shown()
console.log(`session: ${await ada.session()}`)
await sessions.return()
await database.close()
