import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./keeper.js', import.meta.url))

/** All that this process starts: none of it outlives this process, nor the call of `end`. */
export class Kept {
  #keeper = spawn(process.execPath, [program], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })

  constructor() {
    // If somebody has killed the keeper, nobody keeps anything.
    this.#keeper.stdin.on('error', () => {})
  }

  /** Its end will be ours, if it has not ended by itself. */
  process(child) {
    this.#say(`process ${child.pid}`)
    child.once('exit', () => this.#say(`ended ${child.pid}`))
  }

  /** A new folder for files, which is deleted in the end. */
  folder(name) {
    const folder = mkdtempSync(join(tmpdir(), `resqlite-${name}-`))
    this.deleteLater(folder)
    return folder
  }

  deleteLater(folder) {
    this.#say(`folder ${folder}`)
  }

  /** Kills what still runs. Resolves when all is gone, folders included. */
  async end() {
    const exit = once(this.#keeper, 'exit')
    this.#keeper.stdin.end()
    await exit
  }

  #say(line) {
    if (this.#keeper.stdin.writable) this.#keeper.stdin.write(`${line}\n`)
  }
}
