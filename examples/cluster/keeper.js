// Ends what is still running, and deletes folders, when whoever started it is gone: in whatever way that happened. Its lines
// are `process <pid>`, `ended <pid>` and `folder <path>`.

import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

const processes = new Set()
const folders = []

for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...rest] = line.split(' ')
  if (word === 'process') processes.add(Number(rest[0]))
  if (word === 'ended') processes.delete(Number(rest[0]))
  if (word === 'folder') folders.push(rest.join(' '))
}

for (const pid of processes) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
for (const folder of folders)
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
