const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** 1234567 as 1,234,567. */
export function count(value: number): string {
  return grouped.format(value)
}

/** A number in as few characters as tell enough: 950, 12.3k, 4.5M. */
export function short(value: number): string {
  if (Math.abs(value) < 1000)
    return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 1 : 0)
  if (Math.abs(value) < 1e6) return `${(value / 1e3).toFixed(value < 1e5 ? 1 : 0)}k`
  return `${(value / 1e6).toFixed(1)}M`
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length, Math.floor(Math.log2(value) / 10))
  const scaled = value / 1024 ** power
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[power - 1]}`
}

/** A time in milliseconds, in the unit that suits it. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`
  if (milliseconds < 1000) return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`
  return `${(milliseconds / 1000).toFixed(1)} s`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** One of something, or several. */
export function plural(number: number, one: string, several = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : several}`
}

export function time(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB')
}

/** SQL on one line. */
export function oneLine(sql: string): string {
  return sql.replace(/\s+/g, ' ').trim()
}
