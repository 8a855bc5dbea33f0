import { random } from '../../random.mjs'
import { threadTime } from './clocks.mjs'
import { offer } from './offer.mjs'
import { changeRow } from './tasks.mjs'

/** Changes random rows at the offered rate. `cpu`: what that took this thread, in milliseconds. */
export async function offerChanges(db, { rows, seconds, seed }) {
  const pick = random(seed)
  const cpu = threadTime()
  const offered = await offer(() => changeRow(db, 1 + pick(rows)), seconds)
  return { ...offered, cpu: cpu() }
}
