/** `Symbol.dispose`, which the first releases of Node 20 do not have. */
export const dispose: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for('nodejs.dispose') as typeof Symbol.dispose)

/** `Symbol.asyncDispose`, which the first releases of Node 20 do not have. */
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('nodejs.asyncDispose') as typeof Symbol.asyncDispose)
