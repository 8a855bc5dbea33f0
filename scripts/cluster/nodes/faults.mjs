// The faults of machines. Each fault begins, ends, and describes itself.

import { setTimeout as pause } from 'node:timers/promises'

/** Long enough for an election, and for the patience of connections. */
const FREEZE = 6_000
const DISK_FULL = 5_000

/** All faults by their kinds, which are asked for by name. */
export const FAULTS = {
  kill: {
    'kill node': async (run) => {
      const { node } = run.victim()
      await node.kill()
      await run.goesOn(node)
      run.restartNode(node)
    },
    'kill server': async (run) => killServer(run, run.victim()),
    'kill leader': async (run) => killServer(run, await run.leader()),
    'kill machine': async (run) => killMachine(run, run.victim()),
    'kill machine of the leader': async (run) => killMachine(run, await run.leader()),
    'kill node that writes': async (run) => {
      const { node } = await run.writer()
      await node.kill()
      await run.goesOn(node)
      run.restartNode(node)
    },
  },
  freeze: {
    'freeze node': (run) => freeze([run.victim().node]),
    'freeze node that writes': async (run) => freeze([(await run.writer()).node]),
    'freeze server': (run) => freeze([run.victim().server]),
    'freeze machine': (run) => {
      const { server, node } = run.victim()
      return freeze([server, node])
    },
  },
  partition: {
    'cut off node': (run) => cutOff(run, [run.victim().places.node]),
    'cut off server': (run) => cutOff(run, [run.victim().places.server]),
    'cut off machine': (run) => cutOff(run, Object.values(run.victim().places)),
    'cut off server from servers': (run) => {
      const { server } = run.victim().places
      const others = run.machines.map(({ places }) => places.server)
      return cutOff(run, [server], others)
    },
  },
  writer: {
    'cut off machine of the writer': cutOffWriter,
  },
  disk: {
    'fill disk of node': async (run) => {
      const machine = run.victim()
      machine.fillDisk()
      await run.writeMuch()
      await pause(DISK_FULL)
      machine.freeDisk()
    },
    'open node on a full disk': async (run) => {
      const machine = run.victim()
      await machine.node.kill()
      machine.fillDisk()
      run.restartNode(machine.node)
      await run.writeMuch()
      await pause(DISK_FULL)
      machine.freeDisk()
    },
  },
  power: {
    'power of one machine': (run) => failPower(run, [run.victim()]),
  },
  blackout: {
    'power of all machines': (run) => failPower(run, run.machines),
  },
}

async function killServer(run, { server }) {
  await server.kill()
  await run.goesOn()
  server.start()
}

async function killMachine(run, machine) {
  await machine.killAll()
  await run.goesOn(machine.node)
  machine.server.start()
  run.restartNode(machine.node)
}

async function freeze(processes) {
  for (const each of processes) each.freeze()
  await pause(FREEZE)
  for (const each of processes) each.thaw()
}

const DIRECTIONS = ['both ways', 'what it sends', 'what it gets']

/** Some places are cut off from others: both ways, or one way only. */
async function cutOff(run, places, others = run.places()) {
  const [direction, length] = [run.choose(DIRECTIONS), 3_000 + run.random() * 9_000]
  const rest = others.filter((place) => !places.includes(place))
  if (direction !== 'what it gets') run.network.drop(places, rest)
  if (direction !== 'what it sends') run.network.drop(rest, places)
  await pause(length)
  run.network.heal()
  return { name: direction }
}

/** The answers that the writes and reads of the node get meanwhile, and those that others get. */
async function cutOffWriter(run) {
  const writer = await run.writer()
  const places = Object.values(writer.places)
  const rest = run.places().filter((place) => !places.includes(place))
  const from = performance.now()
  run.network.drop(places, rest)
  run.network.drop(rest, places)
  await pause(run.writeTimeout + 4_000)
  const to = performance.now()
  run.network.heal()
  // Each call that was made before the end is answered by then.
  await pause(1_000)
  const others = [0, 1, 2].filter((index) => index !== writer.index)
  const { record } = run
  return {
    seen: {
      writes: record.answers(from, to - run.writeTimeout, [writer.index], 'write'),
      reads: record.answers(from, to, [writer.index], 'read'),
      othersWrites: record.answers(from, to, others, 'write'),
      othersGap: Math.round(record.longestGap(from, to, others)),
    },
  }
}

async function failPower(run, machines) {
  await Promise.all(machines.map((machine) => machine.losePower(run.tornSeed())))
  for (const machine of machines) {
    run.workload.forget(machine.index)
    machine.server.start()
    run.restartNode(machine.node)
  }
}
