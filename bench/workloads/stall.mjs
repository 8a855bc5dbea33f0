import { PerformanceObserver, performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { activeSince, loopNow } from '../measure.mjs'
import { expectedRows, makeTouch } from '../shapes.mjs'
import { time } from './measures.mjs'

const rows = 1_000_000
const quickRows = 250_000

/** How long the event loop is held at the longest while a million rows arrive. */
export const stall = {
  id: 'stall-1m',
  version: 'v2',
  group: 'reads',
  title: 'longest event-loop stall while selecting {rows} × 6',
  shapes: ['items'],
  rows,
  quickRows,
  fewer: true,
  measures: {
    stall: time('longest stall'),
    stallWithoutGc: time('longest stall without garbage collection'),
    gcLongest: time('longest pause for garbage collection'),
    gc: time('garbage collection in all'),
  },
  async prepare(session, shape, owner, { quick }) {
    const count = quick ? quickRows : rows
    const statement = await session.prepare(`SELECT * FROM ${shape}`)
    const touch = makeTouch(shape, owner)
    const select = () => statement.all([])
    const checked = (result) => check(result, count, shape, touch)
    return {
      async measure() {
        const { stallWithoutGc: _, ...sampled } = await watch(select, checked)
        const { stallWithoutGc } = await withoutHiddenCollection(() => watch(select, checked))
        return { ...sampled, stallWithoutGc }
      },
    }
  },
}

/**
 * V8 marks what lives in steps between other work and does not report them, so they could not be told from the peer's
 * own time. Without them it marks all at once, in a pause that it reports.
 */
async function withoutHiddenCollection(measure) {
  setFlagsFromString('--no-incremental-marking')
  try {
    return await measure()
  } finally {
    setFlagsFromString('--incremental-marking')
  }
}

/** Everything is read, but after the clock has stopped: reading a million rows is a stall of the caller's own. */
function check(result, count, shape, touch) {
  if (result.length !== count) throw new Error(`${result.length} rows`)
  const some = [0, 1, 2].map((i) => result[i])
  if (touch(some) !== touch(expectedRows(shape, 3)) || !(touch(result) > 0)) throw new Error('wrong rows')
}

async function watch(select, check) {
  globalThis.gc?.() // so that no other peer's million rows are collected here
  const collections = []
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  const gaps = []
  let last
  const beat = () => {
    const now = performance.now()
    if (last !== undefined && now - last > 1.5) gaps.push({ from: last, to: now })
    last = now
  }
  const heart = setInterval(beat, 1)
  await sleep(20)

  const loop = loopNow()
  beat()
  gaps.length = 0
  const start = last
  const result = await select()
  beat()
  const wall = last - start
  const main = activeSince(loop)
  clearInterval(heart)
  await sleep(50) // the last collections are reported some turns late
  collections.push(...observer.takeRecords())
  observer.disconnect()
  check(result)
  return {
    wall,
    main,
    ...stalls(
      gaps,
      collections
        .map((entry) => ({ from: entry.startTime, to: entry.startTime + entry.duration }))
        .filter(({ from, to }) => to > start && from < start + wall),
    ),
  }
}

const length = ({ from, to }) => to - from
const total = (spans) => spans.reduce((sum, span) => sum + length(span), 0)
const longest = (values) => Math.max(0, ...values)

/** The longest gap between two heartbeats, with and without the garbage collection in it. */
function stalls(gaps, collections) {
  const pausesIn = (gap) =>
    total(
      collections
        .map(({ from, to }) => ({ from: Math.max(from, gap.from), to: Math.min(to, gap.to) }))
        .filter((overlap) => length(overlap) > 0),
    )
  return {
    stall: longest(gaps.map(length)),
    stallWithoutGc: longest(gaps.map((gap) => length(gap) - pausesIn(gap))),
    gc: total(collections),
    gcLongest: longest(collections.map(length)),
  }
}
