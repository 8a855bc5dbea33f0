/** One line on stderr that is written over by the next, unless it is to be kept. */
export function progress(text, keep = false) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}${keep ? '\n' : ''}`)
  else if (keep) process.stderr.write(`${text}\n`)
}
