import { bold, faint, green, grouped, red, yellow } from '../lib/terminal.js'
import { seconds } from './report.js'

/** From so many columns on, there is room for the whole address of a page. */
const WIDE = 100
/** Number of events that are shown. */
const EVENTS = 6
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const OTHER_SCREEN = '\u001b[?1049h'
const FIRST_SCREEN = '\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** The state of everything, drawn over itself. */
export class Screen {
  #machines
  #keys
  #began = performance.now()
  #events = []
  #rate = new Rate()

  /** `keys`: the key of each part, by its name. */
  constructor(machines, keys) {
    this.#machines = machines
    this.#keys = keys
  }

  open() {
    process.stdout.write(OTHER_SCREEN + HIDE_CURSOR)
  }

  close() {
    process.stdout.write(SHOW_CURSOR + FIRST_SCREEN)
  }

  /** Something has happened. */
  tell(event) {
    const at = seconds(performance.now() - this.#began)
    this.#events = [...this.#events, `${at.padStart(8)}  ${event.split('\n', 1)[0]}`].slice(-EVENTS)
  }

  draw() {
    const width = process.stdout.columns || 80
    const lines = [
      ...this.#summary(),
      ...this.#nodes(),
      ...this.#servers(),
      ...help,
      ...this.#events.map(faint),
    ]
    const rows = lines.map((line) => clipped(`  ${line}`, width) + CLEAR_LINE)
    process.stdout.write(HOME + rows.join('\n') + CLEAR_BELOW)
  }

  #summary() {
    const { count, gap, longestGap } = this.#machines.acknowledgements
    const now = gap > 1_000 ? red(`nothing for ${seconds(gap)}`) : green('writing')
    const rate = grouped(this.#rate.of(count))
    return [
      '',
      `${bold('resqlite: one database on three machines')}   ${now}`,
      '',
      `${bold(grouped(count))} writes acknowledged, ${rate} per second; longest gap ${bold(seconds(longestGap))}`,
      '',
    ]
  }

  #nodes() {
    const head = ['key', 'node', 'role', 'applied', 'lag', 'acknowledged', 'longest gap', 'page']
    return [
      ...table(
        head,
        this.#machines.nodes.map((node) => this.#node(node)),
        nodeColumns,
      ),
      '',
    ]
  }

  #node({ name, state, status, acknowledgements: { count, longestGap }, url }) {
    const applied = status ? grouped(status.applied) : '–'
    const lag = state === 'running' && status ? `${Math.round(status.lagMs)} ms` : '–'
    const role = state === 'running' ? (status?.role ?? '…') : state
    const page = process.stdout.columns < WIDE ? `:${new URL(url).port}` : url
    return [this.#keys.get(name), name, role, applied, lag, grouped(count), seconds(longestGap), page]
  }

  #servers() {
    const role = ({ state, isLeader }) => (state !== 'running' ? state : isLeader ? 'leader' : 'follower')
    const rows = this.#machines.servers.map((server) => [
      this.#keys.get(server.name),
      server.name,
      role(server),
    ])
    return [...table(['key', 'server', 'role'], rows, nodeColumns), '']
  }
}

const nodeColumns = [3, 7, 9, -9, -7, -12, -11, 0]
const help = [
  `${bold('a key')} kills it, or revives it; ${bold('with shift')} freezes it, or thaws it`,
  `${bold('q')} ends, and checks; ${bold('Ctrl-C')} ends at once`,
  '',
]
const colours = {
  writer: green,
  leader: green,
  killed: red,
  ended: red,
  stopped: red,
  frozen: yellow,
  starting: yellow,
}

/** Columns with a negative width stand to the right. */
function table(head, rows, widths) {
  const cells = (row) =>
    row.map((cell, i) => (widths[i] < 0 ? cell.padStart(-widths[i]) : cell.padEnd(widths[i])))
  return [faint(cells(head).join('  ')), ...rows.map((row) => painted(cells(row)).join('  '))]
}

function painted(cells) {
  return cells.map((cell) => colours[cell.trim()]?.(cell) ?? cell)
}

/** A line that is no wider than the terminal: colours take no place. */
function clipped(line, width) {
  let left = width
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return line.replace(/(\u001b\[\d+m)|./gsu, (part, colour) => (colour || left-- > 0 ? part : ''))
}

/** The number per second, over about the last second. */
class Rate {
  #samples = []

  of(count) {
    const now = performance.now()
    this.#samples = [...this.#samples.filter(({ at }) => now - at < 1_000), { at: now, count }]
    const [{ at, count: before }] = this.#samples
    return now > at ? Math.round(((count - before) * 1_000) / (now - at)) : 0
  }
}
