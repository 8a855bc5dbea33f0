const { stdout, env } = process
const colours = stdout.isTTY === true && env.NO_COLOR === undefined && env.TERM !== 'dumb'

const paint = (code) => (text) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)

export const bold = paint(1)
export const faint = paint(2)
export const green = paint(32)
export const red = paint(31)
export const yellow = paint(33)

/** A number as people write it: 135,233. */
export const grouped = (number) => number.toLocaleString('en-US')

/** Milliseconds with as many digits as mean something. */
export const ms = (time) => `${time < 100 ? time.toFixed(1) : grouped(Math.round(time))} ms`

/**
 * Shows that a step is under way. `tell` prints a line below it; `end` says how the step ended, on its own line as
 * long as nothing was told.
 */
export function working(title) {
  stdout.write(`  ${title} ${faint('…')}`)
  const started = performance.now()
  const dots = setInterval(() => stdout.write(faint('.')), 250)
  let told = false
  const tell = (line) => {
    clearInterval(dots)
    stdout.write(told ? `      ${line}\n` : `\n      ${line}\n`)
    told = true
  }
  const end = (ending) => {
    clearInterval(dots)
    stdout.write(`${told ? '     ' : ''} ${ending} ${faint(ms(performance.now() - started))}\n`)
  }
  return { tell, end }
}

/** The finding of a step, below its line. */
export function finding(text) {
  stdout.write(`      ${faint(text)}\n`)
}

/** A table of lines that are equally many strings; columns after the first stand to the right. */
export function table(headings, lines) {
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...lines.map((line) => line[i].length)),
  )
  const row = (cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
  stdout.write(`  ${bold(row(headings).join('   '))}\n`)
  for (const line of lines) stdout.write(`  ${row(line).join('   ')}\n`)
}
