import { parseArgs } from 'node:util'
import { PROGRAMS } from '../../scripts/cluster/servers.mjs'
import { CommandFailed } from '../../scripts/lib/process.mjs'

export const usage = `npm run cluster                                     three log servers, three nodes, and keys to break them
npm run cluster -- --log etcd                       on etcd instead of NATS
npm run cluster -- --port 5001                      the pages at 5001, 5002, 5003 instead of 4001 …; 0: any
npm run cluster -- --seconds 30 --kills 5 --seed 7  without keys: breaks 5 things, then checks`

/** The options of the program. `seconds` is undefined if somebody sits at the keyboard. */
export function optionsOf(args, hasTerminal) {
  const values = parsed(args)
  const options = {
    log: values.log,
    port: number('port', values.port),
    seconds: values.seconds && number('seconds', values.seconds),
    kills: number('kills', values.kills),
    seed: values.seed ? number('seed', values.seed) : Math.floor(Math.random() * 2 ** 31),
  }
  if (!Object.hasOwn(PROGRAMS, options.log))
    throw new CommandFailed(`--log is ${options.log}; there are ${Object.keys(PROGRAMS).join(', ')}`)
  if (options.port > 65_533) throw new CommandFailed('--port is at most 65533: three pages need three ports')
  if (options.seconds === undefined && !hasTerminal)
    throw new CommandFailed(
      `This is no terminal, so nobody can press keys: say how long, and how many faults.\n\n${usage}`,
    )
  return options
}

function parsed(args) {
  try {
    const string = (value) => ({ type: 'string', default: value })
    return parseArgs({
      args,
      options: {
        log: string('nats'),
        port: string('4001'),
        seconds: { type: 'string' },
        kills: string('5'),
        seed: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new CommandFailed(`${error.message}\n\n${usage}`)
  }
}

function number(name, text) {
  if (!/^\d{1,9}$/.test(text)) throw new CommandFailed(`--${name} is ${text}: it must be a number`)
  return Number(text)
}
