/** A check for `assert.rejects` and `assert.throws`: the error has this code, and its message contains these parts. */
export function withCode(code: string, ...parts: string[]): (error: Error & { code?: string }) => true {
  return (error) => {
    const missing = parts.filter((part) => !error.message.includes(part))
    if (error.code === code && missing.length === 0) return true
    throw new Error(`expected ${code} with ${JSON.stringify(parts)}, got ${error.code}: ${error.stack}`)
  }
}

/** A promise that the test settles. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void } {
  let open!: (value: T) => void
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

/** A query that runs until it is interrupted. */
export const ENDLESS = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c'
