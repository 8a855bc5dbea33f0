import { Scanner } from 'resqlite/adapter'

/**
 * The state of the reader in a statement, as in SQLite's own recogniser of complete statements (`sqlite3_complete`). The body
 * of a trigger has semicolons, and ends with `; END;`.
 */
type State = 'before' | 'explain' | 'create' | 'inside' | 'trigger' | 'trigger;' | 'trigger; end'

/** Cuts a script into its statements, without the semicolons after them. */
export function statementsOf(script: string): string[] {
  const statements: string[] = []
  const scanner = new Scanner(script)
  let state: State = 'before'
  let begin = 0
  while (!scanner.atEnd) {
    const { position } = scanner
    const token = scanner.take(';') ? ';' : (scanner.word() ?? '')
    if (token === '') scanner.skipToken()
    const next = after(state, token)
    if (state === 'before') begin = position
    else if (next === 'before') statements.push(script.slice(begin, position))
    state = next
  }
  if (state !== 'before') statements.push(script.slice(begin))
  return statements
}

function after(state: State, token: string): State {
  switch (state) {
    case 'trigger':
      return token === ';' ? 'trigger;' : 'trigger'
    case 'trigger;':
      if (token === ';') return state
      return token === 'end' ? 'trigger; end' : 'trigger'
    case 'trigger; end':
      return token === ';' ? 'before' : 'trigger'
  }
  if (token === ';') return 'before'
  if (state === 'create' && token === 'trigger') return 'trigger'
  if (state === 'create' && (token === 'temp' || token === 'temporary')) return 'create'
  if (state !== 'inside' && state !== 'create' && token === 'create') return 'create'
  return state === 'before' && token === 'explain' ? 'explain' : state === 'explain' ? 'explain' : 'inside'
}
