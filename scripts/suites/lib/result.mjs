import { judge } from './judge.mjs'

/** Prints what a suite found, and returns how many things are wrong with it: see {@link judge}. */
export function printResult(result) {
  const { title, runs, explained } = result
  console.log(`\n${title.padEnd(44)}  passing  pending  failing`)
  for (const { driver, passing, pending, failures } of runs) {
    const counts = [passing, pending, failures.length].map((count) => String(count).padStart(9))
    console.log(`  ${driver.padEnd(42)}${counts.join('')}`)
  }
  for (const { title } of runs[1].failures)
    if (title in explained) console.log(`\n  ${title}\n    ${explained[title]}`)
  const wrong = judge(result)
  for (const what of wrong) console.log(`\n  WRONG: ${what}`)
  return wrong.length
}
