import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { type Json, type Script, scriptText } from './process-tools'

/** Milliseconds after which a process that has not ended counts as hanging, and is killed so that the test fails. */
const HANGS_AFTER = 60_000

/** How a process ended. */
export interface Ending {
  code: number | null
  signal: string | null
  lines: string[]
  errors: string
}

/** A process that runs one script. */
export class Child {
  /** Settles when the process has ended and all its output was read. */
  readonly ended: Promise<Ending>
  /** Called with each line that it prints. */
  onLine: (line: string) => void = () => {}
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #lines: string[] = []
  readonly #waiting: ((line: string) => void)[] = []
  #heard = 0
  #errors = ''

  constructor(code: string, flags: readonly string[] = []) {
    this.#process = spawn(process.execPath, [...flags, '-e', code], { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#process.stdin.on('error', () => {}) // it may be gone when it is told something
    this.#process.stderr.setEncoding('utf8').on('data', (text) => {
      this.#errors += text
    })
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#take(line))
    this.ended = this.#end()
  }

  /** Returns the next line that it prints. */
  async line(): Promise<string> {
    const line = new Promise<string>((resolve) => this.#waiting.push(resolve))
    this.#match()
    const early = this.ended.then((ending) => {
      throw new Error(`the process ended instead of saying something: ${JSON.stringify(ending)}`)
    })
    return await Promise.race([line, early])
  }

  /** Sends a line to it. */
  tell(line = 'go on'): void {
    this.#process.stdin.write(`${line}\n`)
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Returns its lines, after it has ended with code 0 and without error output. */
  async output(): Promise<string[]> {
    const { code, signal, lines, errors } = await this.ended
    if (code === 0 && errors === '') return lines
    throw new Error(`the process ended with ${signal ?? code}:\n${lines.join('\n')}\n${errors}`)
  }

  #take(line: string): void {
    this.#lines.push(line)
    this.#match()
    this.onLine(line)
  }

  #match(): void {
    while (this.#waiting.length > 0 && this.#heard < this.#lines.length) {
      this.#waiting.shift()?.(this.#lines[this.#heard++] as string)
    }
  }

  async #end(): Promise<Ending> {
    const guard = setTimeout(() => {
      this.#errors += 'killed because it hangs'
      this.kill()
    }, HANGS_AFTER)
    const [code, signal] = await once(this.#process, 'close')
    clearTimeout(guard)
    return { code, signal, lines: this.#lines, errors: this.#errors }
  }
}

/** Starts a script in a new process, which does not outlive the test. */
export function start<A extends readonly Json[]>(t: TestContext, script: Script<A>, ...args: A): Child {
  return startWith(t, [], script, ...args)
}

/** The same with flags for node. */
export function startWith<A extends readonly Json[]>(
  t: TestContext,
  flags: readonly string[],
  script: Script<A>,
  ...args: A
): Child {
  const child = new Child(scriptText(script, args), flags)
  t.after(() => child.kill())
  return child
}

/** Returns what a script prints in a new process, which must end without errors. */
export async function run<A extends readonly Json[]>(
  t: TestContext,
  script: Script<A>,
  ...args: A
): Promise<string[]> {
  return await start(t, script, ...args).output()
}
