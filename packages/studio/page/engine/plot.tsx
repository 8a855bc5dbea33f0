import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { bytes } from '../format.ts'

export interface Series {
  readonly name: string
  readonly values: readonly number[]
  /** The name of a colour of the page. */
  readonly colour: string
  readonly isFilled?: boolean
}

interface Props {
  readonly title: string
  /** Times in milliseconds. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
}

/** Some numbers over time, with their latest values beside the title. */
export function Plot({ title, times, series, format }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  useEffect(() => {
    const element = host.current as HTMLElement
    const make = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(element, series, format), dataOf(times, series), element)
    }
    make()
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    resized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', make)
    return () => {
      resized.disconnect()
      scheme.removeEventListener('change', make)
      plot.current?.destroy()
    }
  }, [])
  useEffect(() => plot.current?.setData(dataOf(times, series)), [times])
  return (
    <figure class="plot">
      <figcaption>
        <strong>{title}</strong>
        {series.map(({ name, values, colour }) => (
          <span key={name}>
            <i class={`swatch ${colour}`} />
            {name} <b>{format(values.at(-1) ?? 0)}</b>
          </span>
        ))}
      </figcaption>
      <div class="plot-host" ref={host} role="img" aria-label={title} />
    </figure>
  )
}

const HEIGHT = 128

/** Steps of an axis with bytes. */
const POWERS = Array.from({ length: 45 }, (_, i) => 2 ** i)

function dataOf(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  return [times.map((time) => time / 1000), ...series.map(({ values }) => [...values])]
}

function optionsOf(
  element: HTMLElement,
  series: readonly Series[],
  format: (value: number) => string,
): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const font = '11px system-ui, sans-serif'
  const axis = {
    stroke: colour('faint'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font,
  }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    padding: [8, 4, 0, 0],
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, size: 22, grid: { show: false }, space: 90, values: (_, times) => times.map(clock) },
      {
        ...axis,
        size: 52,
        space: 34,
        values: (_, values) => values.map(format),
        ...(format === bytes && { incrs: POWERS }),
      },
    ],
    series: [
      {},
      ...series.map(({ name, colour: own, isFilled }) => ({
        label: name,
        stroke: colour(own),
        width: 1.5,
        points: { show: false },
        ...(isFilled && { fill: `color-mix(in srgb, ${colour(own)} 16%, transparent)` }),
      })),
    ],
  }
}

function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB')
}
