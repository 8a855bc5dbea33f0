// node foreign-writer.mjs <file> <commits> <lonely> <seed>: commits to a file that another process watches.
//
// Update number n sets state.n to n. After most of them there is a pause of up to 2 ms; every `lonely`-th one waits until
// the other process says that it has seen it, for 2 s at most: nothing that comes later can make up for it.
// At the end it sends when each began (milliseconds of the monotonic clock) and which of the lonely ones were not seen.
import Database from 'better-sqlite3'
import { random } from '../random.mjs'

const [file, commits, lonely, seed] = [process.argv[2], ...process.argv.slice(3).map(Number)]
const patience = 2000

const db = new Database(file)
db.pragma('synchronous = NORMAL')
db.pragma('busy_timeout = 5000')
const update = db.prepare('UPDATE state SET n = ? WHERE id = 1')
const pick = random(seed)
const never = new Int32Array(new SharedArrayBuffer(4))
const pause = () => Atomics.wait(never, 0, 0, pick(2000) / 1000)

let seen = 0
let wake = () => {}
process.on('message', (message) => {
  if (message === 'go') run()
  else {
    seen = message
    wake()
  }
})
process.send('ready')

async function run() {
  const times = []
  const missed = []
  for (let n = 1; n <= commits; n++) {
    times.push(Number(process.hrtime.bigint()) / 1e6)
    update.run(n)
    if (n % lonely === 0 && !(await isSeen(n))) missed.push(n)
    pause()
  }
  process.send({ times, missed }, () => process.disconnect())
  db.close()
}

function isSeen(n) {
  return new Promise((resolve) => {
    const giveUp = setTimeout(() => resolve(false), patience)
    wake = () => {
      if (seen < n) return
      clearTimeout(giveUp)
      resolve(true)
    }
    wake()
  })
}
