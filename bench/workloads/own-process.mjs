import { fileURLToPath } from 'node:url'
import { runChild } from '../child.mjs'

// A young generation that V8 may not enlarge: otherwise its steps (tens of MiB) look like a leak of the library.
const steadyHeap = ['--expose-gc', '--max-semi-space-size=2']
const patience = 300_000 // ms

/** Runs `./<name>` in a process of its own and resolves with what it printed. `heap`: 'steady' for memory, else 'usual'. */
export const runApart = (name, args, heap = 'steady') =>
  runChild(fileURLToPath(new URL(name, import.meta.url)), args.map(String), {
    execArgv: heap === 'steady' ? steadyHeap : [],
    timeout: patience,
  })
