import { green, grouped, red, yellow } from '../lib/terminal.js'

/** The changes of a patch to a list of cities, one line each, from the top of the list to the bottom. */
export function patchLines({ added, removed, updated, moved }) {
  const lines = [
    ...removed.map(({ index, row }) => [index, red('−'), row.name, grouped(row.population)]),
    ...added.map(({ index, row }) => [index, green('+'), row.name, grouped(row.population)]),
    ...updated.map(({ from, index, previous, row }) => [
      index,
      arrow(from, index),
      row.name,
      growth(previous, row),
    ]),
    ...moved.map(({ from, index, row }) => [index, arrow(from, index), row.name, grouped(row.population)]),
  ]
  lines.sort(([a], [b]) => a - b)
  return lines.map(
    ([index, sign, name, text]) => `  ${sign} ${String(index + 1).padStart(2)}  ${name.padEnd(12)} ${text}`,
  )
}

/** A count, before and now. */
export const countLine = (before, after) =>
  `  ${yellow('#')}     ${grouped(before)} → ${grouped(after)} places`

function arrow(from, index) {
  if (index === from) return yellow('·')
  return yellow(index < from ? '↑' : '↓')
}

function growth(before, after) {
  return `${grouped(before.population)} → ${grouped(after.population)}`
}
