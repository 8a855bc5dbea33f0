import { useMemo } from 'preact/hooks'
import { bytes, count, duration, plural, short } from '../format.ts'
import { Empty } from '../parts/notice.tsx'
import type { Histograms, Sample, Status } from '../types.ts'
import { factsOf, useFacts } from '../use-live.ts'
import { ChangedTables } from './changed-tables.tsx'
import { Histogram, quantile } from './histogram.tsx'
import { Plot } from './plot.tsx'

/** The writer, the readers and the write-ahead log, over the last five minutes. */
export function EngineView({ status }: { status: Status | undefined }) {
  const { rows } = useFacts('sample', 'histogram')
  const samples = useMemo(() => factsOf<Sample>(rows, 'sample').map(([, sample]) => sample), [rows])
  const [histogram] = factsOf<Histograms>(rows, 'histogram')
  const times = useMemo(() => samples.map(({ at }) => at), [samples])
  const perSecond = (of: (sample: Sample) => number) =>
    samples.map((sample) => (of(sample) * 1000) / Math.max(1, sample.span))
  const plain = (of: (sample: Sample) => number) => samples.map(of)
  if (status === undefined || samples.length === 0) {
    return (
      <section class="view">
        <header class="bar">
          <h1>Engine</h1>
        </header>
        <Empty title="Looking…" text="The first sample is on its way." />
      </section>
    )
  }
  const { writer, readers, wal, leases } = status
  return (
    <section class="view engine" aria-label="engine">
      <header class="bar">
        <h1>Engine</h1>
        <span class="tag">SQLite {status.sqliteVersion}</span>
        <span class="tag">process {status.pid}</span>
      </header>
      <div class="scroll">
        <div class="tiles">
          <Tile name="database" value={bytes(status.fileBytes)} more={`commit ${count(status.lastCommit)}`} />
          <Tile
            name="write-ahead log"
            value={bytes(wal.bytes)}
            more={`${plural(wal.checkpoints, 'checkpoint')}, ${plural(wal.resetPauses, 'pause')}`}
          />
          <Tile
            name="writer"
            value={
              writer.transaction === null
                ? writer.queued > 0
                  ? `${count(writer.queued)} wait`
                  : 'free'
                : 'held'
            }
            more={
              writer.transaction === null
                ? `largest group ${count(writer.largestGroup)}`
                : heldBy(writer.transaction)
            }
            isBad={writer.transaction?.idle === true && Date.now() - writer.transaction.since > 2000}
          />
          <Tile
            name="readers"
            value={`${readers.busy} of ${readers.max} busy`}
            more={`${count(readers.queued)} wait, at most ${count(readers.queuedPeak)}`}
          />
          <Tile
            name="snapshots, iterators"
            value={count(leases.open)}
            more={leases.queued > 0 ? `${count(leases.queued)} wait` : 'none wait'}
          />
          <Tile
            name="groups"
            value={count(writer.groups)}
            more={`${count(writer.groupsRetriedSingly)} retried singly`}
          />
        </div>
        <div class="plots">
          <Plot
            title="Writes and commits per second"
            times={times}
            format={short}
            series={[
              { name: 'writes', values: perSecond(({ writes }) => writes), colour: 'muted' },
              {
                name: 'commits',
                values: perSecond(({ commits }) => commits),
                colour: 'accent',
                isFilled: true,
              },
            ]}
          />
          <Plot
            title="Writes per commit"
            times={times}
            format={short}
            series={[
              {
                name: 'mean',
                values: plain(({ writes, commits }) => (commits === 0 ? 0 : Math.max(1, writes / commits))),
                colour: 'accent',
                isFilled: true,
              },
            ]}
          />
          <Plot
            title="Waiting"
            times={times}
            format={short}
            series={[
              { name: 'for the writer', values: plain(({ writerQueued }) => writerQueued), colour: 'accent' },
              { name: 'for a reader', values: plain(({ readersQueued }) => readersQueued), colour: 'muted' },
              { name: 're-runs', values: plain(({ rerunsQueued }) => rerunsQueued), colour: 'warn' },
            ]}
          />
          <Plot
            title="Re-runs per second"
            times={times}
            format={short}
            series={[
              { name: 'all', values: perSecond(({ reruns }) => reruns), colour: 'muted' },
              { name: 'unchanged', values: perSecond(({ unchanged }) => unchanged), colour: 'warn' },
              { name: 'emitted', values: perSecond(({ emitted }) => emitted), colour: 'accent' },
            ]}
          />
          <Plot
            title="Write-ahead log"
            times={times}
            format={bytes}
            series={[
              { name: 'size', values: plain(({ walBytes }) => walBytes), colour: 'accent', isFilled: true },
            ]}
          />
          <Plot
            title="Checkpoints per second"
            times={times}
            format={short}
            series={[
              {
                name: 'checkpoints',
                values: perSecond(({ checkpoints }) => checkpoints),
                colour: 'accent',
                isFilled: true,
              },
            ]}
          />
        </div>
        <div class="plots">
          {histogram && <Latency {...histogram[1]} />}
          <ChangedTables samples={samples} />
        </div>
      </div>
    </section>
  )
}

function heldBy({ kind, since, idle, sql }: NonNullable<Status['writer']['transaction']>): string {
  return `${kind} for ${duration(Date.now() - since)}${idle ? ', idle' : ''}${sql ? `: ${sql.slice(0, 60)}` : ''}`
}

function Tile({
  name,
  value,
  more,
  isBad = false,
}: {
  name: string
  value: string
  more: string
  isBad?: boolean
}) {
  return (
    <div class={`tile ${isBad ? 'bad' : ''}`}>
      <span class="faint">{name}</span>
      <strong>{value}</strong>
      <span class="faint">{more}</span>
    </div>
  )
}

function Latency({ reads, writes }: Histograms) {
  const at = (counts: readonly number[], share: number) => {
    const time = quantile(counts, share)
    return time === undefined ? '–' : duration(time)
  }
  return (
    <figure class="plot">
      <figcaption>
        <strong>Times of calls</strong>
        <span>
          <i class="swatch accent" />
          reads <b>p50 {at(reads, 0.5)}</b> <b>p99 {at(reads, 0.99)}</b>
        </span>
        <span>
          <i class="swatch muted" />
          writes <b>p50 {at(writes, 0.5)}</b> <b>p99 {at(writes, 0.99)}</b>
        </span>
      </figcaption>
      <Histogram reads={reads} writes={writes} />
    </figure>
  )
}
