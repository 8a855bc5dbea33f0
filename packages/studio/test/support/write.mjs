// Another process: runs the statement that it is given, tells when it was committed, and ends.

import { Database } from 'resqlite'

const [path, sql] = process.argv.slice(2)
const db = await Database.open(path)
await db.exec(sql)
console.log(Date.now())
await db.close()
