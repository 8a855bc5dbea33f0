// Numbers of several bursts → one number, and numbers → cells.
import { summary } from '../summary.mjs'

export const median = (values) => summary(values).median

/** The median over the bursts of what `of(burst)` gives. */
export const medianOf = (bursts, of) => median(bursts.map(of))

/** `part` ÷ `whole`; of nothing, the share is 0. */
export const share = (part, whole) => (whole === 0 ? 0 : part / whole)

/** Microseconds as milliseconds. */
export const ms = (us) => (us / 1000).toFixed(2)

export const count = (value) =>
  Number.isInteger(value) ? value.toLocaleString('en') : Math.round(value).toLocaleString('en')

export const percent = (value) => `${(value * 100).toFixed(2)} %`

export const decimal = (value) => value.toFixed(2)

export const perSecond = (value) => `${Math.round(value).toLocaleString('en')}/s`
