/**
 * One piece of code for blocking sessions and for others: a generator that yields what a call returned and goes on with
 * the answer. For a blocking session it becomes a plain function, which nothing ever awaits; for others an async one.
 *
 * `steps(session, function* (id) { const row = yield statement.get([id]); … })`
 */
export function steps(session, generator) {
  const drive = session.sync ? straight : awaiting
  return (...args) => drive(generator(...args))
}

function straight(generator) {
  let step = generator.next()
  while (!step.done) step = generator.next(step.value)
  return step.value
}

async function awaiting(generator) {
  let step = generator.next()
  while (!step.done) step = generator.next(await step.value)
  return step.value
}
