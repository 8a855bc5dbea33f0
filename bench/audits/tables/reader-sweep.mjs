import { median, percent, perSecond } from '../figures.mjs'

const phases = ['baseline', 'disjoint', 'overlap', 'owners']
const calls = { points: 'point, µs', inserts: 'insert, µs', batch: 'row of a batch, µs' }
/** Settings closer to each other than this are alike, or than the noise of the run if that is more. */
const alike = 0.1
/** With more noise than this the run says nothing. */
const mostNoise = 0.25

export function tables(data) {
  const settings = data.settings.map(({ readers, rounds }) => ({
    readers,
    writes: Object.fromEntries(
      phases.map((name) => [name, median(rounds.map(({ writes }) => writes[name]))]),
    ),
    reads: Object.fromEntries(data.atOnce.map((n) => [n, median(rounds.map(({ reads }) => reads[n]))])),
    calls: Object.fromEntries(
      Object.keys(calls).map((name) => [name, median(rounds.map(({ calls }) => calls[name]))]),
    ),
  }))
  const judged = judge(settings, data.standard)
  return [
    {
      title: 'Readers: writes per second beside live queries (A11c, A11b), selects at once, and calls',
      head: [
        'readers',
        ...phases.map((name) => `${name} w/s`),
        ...data.atOnce.map((n) => `${n} × ${data.rows.toLocaleString('en')} rows, ms`),
        ...Object.values(calls),
        'most behind the best',
      ],
      rows: settings.map(({ readers, writes, reads, calls }, i) => [
        `${readers}${readers === data.standard ? ' (default here)' : ''}`,
        ...phases.map((name) => perSecond(writes[name])),
        ...data.atOnce.map((n) => reads[n].toFixed(3)),
        ...Object.values(calls).map((time) => time.toFixed(2)),
        percent(judged.behind[i]),
      ]),
      notes: [
        'Medians over the rounds; the order of the settings alternates. *Most behind the best*: in the column in which ' +
          'the setting does worst, the baseline left out, how much slower it is than the best setting in that column.',
        sentence(judged, data),
      ],
    },
  ]
}

/**
 * How far each setting is behind the best one in its worst column (0.1: a tenth slower), which setting is least far behind,
 * and whether the standard is as good as that. No reader takes part in the baseline: how far its values lie apart is the
 * noise of the run, and it is not judged.
 */
export function judge(settings, standard) {
  const columns = [
    ...['disjoint', 'overlap', 'owners'].map((name) => settings.map(({ writes }) => 1 / writes[name])),
    ...Object.keys(settings[0].reads).map((n) => settings.map(({ reads }) => reads[n])),
    ...Object.keys(calls).map((name) => settings.map(({ calls }) => calls[name])),
  ]
  const baseline = settings.map(({ writes }) => writes.baseline)
  const noise = Math.max(...baseline) / Math.min(...baseline) - 1
  const behind = settings.map((_, i) =>
    Math.max(...columns.map((times) => times[i] / Math.min(...times) - 1)),
  )
  const least = Math.min(...behind)
  const best = settings[behind.indexOf(least)].readers
  const at = settings.findIndex(({ readers }) => readers === standard)
  const verdict =
    noise > mostNoise
      ? 'noisy'
      : at === -1
        ? 'missing'
        : behind[at] - least <= Math.max(alike, noise)
          ? 'yes'
          : 'no'
  return { behind, noise, best, least, standard: behind[at], verdict }
}

function sentence({ noise, best, least, standard, verdict }, data) {
  const rule = `cores − 1, at least 2, at most 4: ${data.standard} with ${data.cores} cores`
  const leader = `${best} is never more than ${percent(least)} behind the best`
  const own = `the default (${rule}) is never more than ${percent(standard)} behind the best`
  const noisy = `noise ${percent(noise)}: how far the baseline, in which no reader takes part, differs between the settings`
  return {
    noisy: `This run cannot say which default is right (${noisy}).`,
    missing: `The default (${rule}) is not among the settings; ${leader}: the table supports ${best} (${noisy}).`,
    no: `The table does not support the default: ${leader}, ${own} (${noisy}).`,
    yes: `The table supports the default: ${own}; ${best === data.standard ? 'no setting does better' : `${leader}, which is alike`} (${noisy}).`,
  }[verdict]
}
