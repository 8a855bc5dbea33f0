import stringWidth from 'string-width'

const segmenter = new Intl.Segmenter()

/** Returns the number of terminal columns that a text takes. The text must have no control characters. */
export function widthOf(text: string): number {
  return isAscii(text) ? text.length : stringWidth(text)
}

/** Cuts a text that is wider than `width` columns, and marks the cut. */
export function cut(text: string, width: number): string {
  // A text may be megabytes long, and a visible character may have several units: combining marks take units, but no column.
  if (text.length <= width && widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of segmenter.segment(text.slice(0, 16 * (width + 1)))) {
    used += widthOf(segment)
    if (used > width) return `${shortenedBy(kept)}…`
    kept += segment
  }
  return kept.length < text.length ? `${shortenedBy(kept)}…` : text

  /** Shortens the text to make room for the mark. */
  function shortenedBy(text: string): string {
    let short = text
    while (widthOf(short) > width - 1) short = withoutLast(short)
    return short
  }
}

/** Fills a text up with spaces. */
export function pad(text: string, width: number, right: boolean): string {
  const spaces = ' '.repeat(Math.max(0, width - widthOf(text)))
  return right ? spaces + text : text + spaces
}

function withoutLast(text: string): string {
  const last = [...segmenter.segment(text)].at(-1)
  return last === undefined ? '' : text.slice(0, last.index)
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 126) return false
  return true
}
