import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects what nothing refers to any more. */
export const collectGarbage = runInNewContext('gc') as () => void
