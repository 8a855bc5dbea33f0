/** Milliseconds on the monotonic clock, which all threads of the process share. */
export const clock = () => Number(process.hrtime.bigint()) / 1e6
