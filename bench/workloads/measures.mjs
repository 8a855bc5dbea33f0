// What a measure of a workload says about itself.

/** Milliseconds, fewer are better. */
export const time = (title) => ({ title, kind: 'time', better: 'lower' })

/** Bytes, fewer are better. */
export const bytes = (title) => ({ title, kind: 'bytes', better: 'lower' })

/** Events per second, more are better. */
export const rate = (title) => ({ title, kind: 'rate', better: 'higher' })
