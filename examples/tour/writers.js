import { setTimeout as wait } from 'node:timers/promises'

/** Changes many rows that hardly anybody watches, one commit after the other, until it is told to stop. */
export class Writers {
  #stopped = false
  #pause
  #work

  /** `rows` are the cities that may change; `pause` is how long each writer rests between two writes, in ms. */
  constructor(db, rows, pause = 0) {
    this.#pause = pause
    const some = picker(rows)
    const grow = 'UPDATE cities SET population = population + 1 WHERE id = ?'
    const move = 'UPDATE cities SET latitude = latitude + 0.0001 WHERE id = ?'
    const visit = 'INSERT INTO visits(city, at) VALUES (?, 0)'
    this.#work = Promise.all([grow, move, visit].map((sql) => this.#write(db, sql, some)))
  }

  /** Resolves to the number of writes. */
  async stop() {
    this.#stopped = true
    const counts = await this.#work
    return counts.reduce((sum, count) => sum + count, 0)
  }

  async #write(db, sql, some) {
    let count = 0
    for (; !this.#stopped; count++) {
      await db.execute(sql, [some()])
      if (this.#pause > 0) await wait(this.#pause)
    }
    return count
  }
}

/** Picks ids of rows as if at random, the same ones in every run. */
function picker(rows) {
  let seed = 1
  return () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    const [id] = rows[seed % rows.length]
    return id
  }
}
