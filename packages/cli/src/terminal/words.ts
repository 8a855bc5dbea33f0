/** Returns a number with separators: `1,234,567` */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString('en')
}

/** Returns a number with its noun: `1 row`, `1,234 rows` */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(count)} ${count === 1 ? singular : plural}`
}

/** Returns a size in words: `512 B`, `1.4 MB` */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let amount = bytes / 1000
  let unit = 0
  for (; amount >= 999.5 && unit < units.length - 1; unit++) amount /= 1000
  return `${amount < 10 ? amount.toFixed(1) : amount.toFixed(0)} ${units[unit]}`
}

/** Returns a duration in words: `0.4 s`, `59 s`, `3:05 min` */
export function durationText(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`
}
