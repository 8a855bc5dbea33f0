/** The exit codes. */
export const Exit = { OK: 0, FAILED: 1, USAGE: 2, INTERRUPTED: 130 } as const

/** The command line is wrong, or lacks the option that would allow the command: exit code 2. */
export class UsageError extends Error {}

/** The command ran, and has printed that it found a problem: exit code 1. */
export class Unsuccessful extends Error {}

/** A line of an input that cannot be imported. Lines and columns count from 1. */
export class InputError extends Error {
  constructor(
    problem: string,
    readonly line: number,
    readonly column?: number,
  ) {
    super(column === undefined ? `line ${line}: ${problem}` : `line ${line}, column ${column}: ${problem}`)
  }
}
