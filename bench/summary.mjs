/** Median and quartiles, interpolated. */
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (q) => {
    const place = (sorted.length - 1) * q
    const low = Math.floor(place)
    return sorted[low] + (sorted[Math.ceil(place)] - sorted[low]) * (place - low)
  }
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}
