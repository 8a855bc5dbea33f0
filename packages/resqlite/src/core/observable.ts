/** The name under which an object offers itself as an observable: `Symbol.observable`, where a library has defined it. */
export const observable = ((Symbol as unknown as { observable?: symbol }).observable ??
  '@@observable') as '@@observable'
