import type { LiveQuery, RowArray } from 'resqlite'
import type { Context } from '../core/context.js'
import { FullScreen } from '../terminal/full-screen.js'
import { ended } from '../terminal/output.js'
import { painter } from '../terminal/style.js'
import { changesBetween } from './changes.js'
import { frame, type Picture } from './frame.js'

/** How long a change is lit, in milliseconds. */
const LIT = 1200

/** How often the counters are looked at, in milliseconds: commits that are skipped change nothing else. */
const COUNTERS = 1000

/** Shows a live query on a terminal until the user ends it. */
export async function showOnScreen(
  live: LiveQuery<RowArray[]>,
  sql: string,
  names: readonly string[],
  key: readonly number[] | undefined,
  context: Context,
): Promise<void> {
  const { stdout } = context
  const screen = new FullScreen(stdout)
  const paint = painter(stdout)
  let picture: Picture | undefined
  let dark: NodeJS.Timeout | undefined

  const show = (changed: Partial<Picture>) => {
    if (picture === undefined) return
    picture = { ...picture, stats: live.stats, ...changed }
    screen.draw(frame(picture, stdout.columns ?? 80, stdout.rows ?? 24, paint))
  }
  let fail: (error: Error) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  const stop = live.subscribe(
    (rows, info) => {
      const changes = picture === undefined ? undefined : changesBetween(picture.rows, rows, key)
      const lit = changes !== undefined
      picture = {
        sql,
        names,
        rows,
        info,
        time: new Date(),
        stats: live.stats,
        changes,
        lit,
        error: undefined,
      }
      show({})
      clearTimeout(dark)
      if (lit) dark = setTimeout(() => show({ lit: false }), LIT)
    },
    (error) => (picture === undefined ? fail(error) : show({ error: error.message })),
  )
  const redraw = () => show({})
  const counters = setInterval(redraw, COUNTERS)
  stdout.on('resize', redraw)
  try {
    await Promise.race([ended(context), failed])
  } finally {
    stop()
    clearTimeout(dark)
    clearInterval(counters)
    stdout.off('resize', redraw)
    show({ lit: false })
    screen.end()
  }
}
