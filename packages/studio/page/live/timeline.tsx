import { useEffect, useRef } from 'preact/hooks'
import { duration } from '../format.ts'
import type { Sample } from '../types.ts'
import { type History, STEPS } from './history.ts'

const LANE = 18

/**
 * Commits against emissions. Time runs to the right: one column for each sample, which is half a second or, of a busy program,
 * more. The lane above has the commits; below, each live query has its own, with what they caused: an emission, a re-run that
 * found nothing new, or nothing.
 */
export function Timeline({
  samples,
  lanes,
  history,
}: {
  samples: readonly Sample[]
  lanes: readonly { readonly id: number; readonly label: string }[]
  history: History
}) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const recent = samples.slice(-STEPS)
  const height = LANE * 2 + LANE * lanes.length
  useEffect(() => {
    const element = canvas.current
    if (element !== null) draw(element, height, recent, lanes, history)
  })
  return (
    <figure class="timeline">
      <div class="lane-names" aria-hidden="true">
        <span class="commits">commits</span>
        {lanes.map(({ id, label }) => (
          <span key={id} title={label}>
            {label}
          </span>
        ))}
      </div>
      <canvas
        ref={canvas}
        style={{ height: `${height}px` }}
        role="img"
        aria-label="commits over time, and what each live query did"
      />
      <figcaption>
        <span class="swatch commit" /> commits
        <span class="swatch emitted" /> emitted
        <span class="swatch unchanged" /> ran, found nothing new
        <span class="grow" />
        the last {duration(recent.reduce((sum, { span }) => sum + span, 0))}
      </figcaption>
    </figure>
  )
}

function draw(
  canvas: HTMLCanvasElement,
  height: number,
  recent: readonly Sample[],
  lanes: readonly { readonly id: number }[],
  history: History,
): void {
  const width = canvas.clientWidth
  const scale = devicePixelRatio
  canvas.width = width * scale
  canvas.height = height * scale
  const context = canvas.getContext('2d')
  if (context === null || width <= 0) return
  context.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const step = width / STEPS
  const bar = Math.max(1, step - 1.5)
  const at = (index: number, length: number) => width - (length - index) * step
  const most = Math.max(1, ...recent.map(({ commits }) => commits))
  context.fillStyle = colour('--line')
  for (let lane = 0; lane <= lanes.length; lane++) context.fillRect(0, LANE * 2 + lane * LANE - 0.5, width, 1)
  context.fillStyle = colour('--muted')
  for (const [index, { commits }] of recent.entries()) {
    const size = (Math.log1p(commits) / Math.log1p(most)) * (LANE * 2 - 6)
    if (commits > 0) context.fillRect(at(index, recent.length), LANE * 2 - 2 - size, bar, size)
  }
  for (const [lane, { id }] of lanes.entries()) {
    const top = LANE * 2 + lane * LANE
    const steps = history.of(id)
    for (const [index, { emitted, unchanged }] of steps.entries()) {
      const x = at(index, steps.length)
      if (unchanged > 0) {
        context.fillStyle = colour('--warn')
        context.globalAlpha = strength(unchanged)
        context.fillRect(x, top + (emitted > 0 ? LANE / 2 : 4), bar, emitted > 0 ? LANE / 2 - 3 : LANE - 8)
      }
      if (emitted > 0) {
        context.fillStyle = colour('--accent')
        context.globalAlpha = strength(emitted)
        context.fillRect(x, top + 4, bar, unchanged > 0 ? LANE / 2 - 4 : LANE - 8)
      }
      context.globalAlpha = 1
    }
  }
}

/** More of something is more opaque. */
function strength(times: number): number {
  return Math.min(1, 0.4 + Math.log2(times + 1) / 8)
}
