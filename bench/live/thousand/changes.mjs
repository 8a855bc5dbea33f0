import { cpuNow, cpuSince } from '../../measure.mjs'
import { random } from '../../random.mjs'
import { offer } from './offer.mjs'
import { changeRow } from './tasks.mjs'

/** Changes random rows at the offered rate. `cpu`: what that took this thread, in milliseconds. */
export async function offerChanges(db, { rows, seconds, seed }) {
  const pick = random(seed)
  const before = cpuNow()
  const offered = await offer(() => changeRow(db, 1 + pick(rows)), seconds)
  return { ...offered, cpu: cpuSince(before) }
}
