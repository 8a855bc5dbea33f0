import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailed } from '../../scripts/lib/process.mjs'
import { judge } from './verdict.js'

/** Time in milliseconds for all parts to settle: an election takes seconds, and the machine may be busy. */
const PATIENCE = 90_000

/** Ends the writing, brings everything back, waits until all nodes have all of it, closes them, and compares their files. */
export async function finish(machines, tell) {
  const { longestGap } = machines.acknowledgements
  let doing = ''
  const step = (what) => {
    doing = what
    tell(what)
  }
  const settled = settle(machines, step).then(() => true)
  const late = pause(PATIENCE, false, { ref: false })
  if (!(await Promise.race([settled, late])))
    throw new CommandFailed(`gave up after ${PATIENCE / 1_000} s: ${doing}`)
  const files = machines.nodes.map(({ file }) => file)
  return { ...(await judge(machines.outcomes, files)), longestGap }
}

async function settle({ servers, nodes }, step) {
  step('thawing and reviving what is down')
  for (const part of [...servers, ...nodes]) if (part.state === 'frozen') part.thaw()
  for (const server of servers) if (server.state !== 'running') await server.start()
  step('waiting for the writes that are under way')
  const writing = nodes.filter(({ state }) => state === 'running')
  await Promise.all(writing.map((node) => node.ask('stop', 'stopped')))
  await Promise.all(nodes.filter((node) => !writing.includes(node)).map((node) => opened(node)))
  step('waiting until all nodes have everything')
  while (new Set(await Promise.all(nodes.map((node) => node.ask('settle', 'settled')))).size > 1);
  step('closing the nodes, and comparing their files')
  for (const node of nodes) await node.close()
}

/** A node that is starting already is waited for. */
async function opened(node) {
  while (node.state === 'starting') await pause(50)
  if (node.state !== 'running') await node.start()
}
