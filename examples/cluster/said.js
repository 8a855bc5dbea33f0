import { existsSync, readFileSync } from 'node:fs'

/** Number of characters that are shown. */
const SHOWN = 2_000

/** The end of what a process has written to its file. */
export function said(file) {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text.trim().slice(-SHOWN) || 'it wrote nothing'
}
