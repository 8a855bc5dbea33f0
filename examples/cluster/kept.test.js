import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

/** Starts something that never ends by itself, tells of it, and waits. */
const program = `
  import { spawn } from 'node:child_process'
  import { Kept } from ${JSON.stringify(new URL('./kept.js', import.meta.url))}
  const kept = new Kept()
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true })
  kept.process(child)
  process.once('SIGTERM', async () => {
    await kept.end()
    process.exit()
  })
  setInterval(() => {}, 1000)
  console.log(JSON.stringify({ pid: child.pid, folder: kept.folder('kept') }))
`

describe('what is kept', () => {
  it('is gone when its end was awaited', {
    skip: process.platform === 'win32' && 'no SIGTERM here',
  }, async () => {
    const { holder, pid, folder } = await start()
    holder.kill('SIGTERM')
    await once(holder, 'exit')
    assert.equal(existsSync(folder), false)
    // Who waits for it now is the system.
    while (isRunning(pid)) await pause(20)
  })

  it('goes where whoever started it is killed', async () => {
    const { holder, pid, folder } = await start()
    holder.kill('SIGKILL')
    while (isRunning(pid) || existsSync(folder)) await pause(20)
  })

  async function start() {
    const args = ['--input-type=module', '--eval', program]
    const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [told] = await once(holder.stdout, 'data')
    return { holder, ...JSON.parse(told) }
  }
})

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
