import { CommandFailed } from '../../lib/process.mjs'

/** Throws a CommandFailed on Node.js 20, on which the package of this name does not run. */
export function needNode22(name) {
  if (Number.parseInt(process.versions.node, 10) < 22)
    throw new CommandFailed(`${name} needs Node.js 22 or later`)
}
