/** Milliseconds on the monotonic clock, which all threads of the process share. */
export const clock = () => Number(process.hrtime.bigint()) / 1e6

/** CPU time of this thread, in milliseconds, from now on. */
export function threadTime() {
  const before = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}
