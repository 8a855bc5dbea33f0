/** A space or comment, a text or a name in quotes, a word, a semicolon, or any other character. */
const TOKEN =
  /(\s+|--[^\n]*|\/\*.*?(?:\*\/|$))|(?:'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?)|([\w$\u0080-\uffff]+)|(;)|./gs

/**
 * Where the reader is in a statement, as SQLite's own recogniser of complete statements (`sqlite3_complete`) has it. The body
 * of a trigger has semicolons, and ends with `; END;`.
 */
type State = 'before' | 'explain' | 'create' | 'inside' | 'trigger' | 'trigger;' | 'trigger; end'

/** Cuts a script into its statements, without what is between them. */
export function statementsOf(script: string): string[] {
  const statements: string[] = []
  let state: State = 'before'
  let begin = 0
  let end = 0
  for (const { index, 0: text, 1: space, 2: word, 3: semicolon } of script.matchAll(TOKEN)) {
    if (space !== undefined) continue
    const next = after(state, semicolon ?? word?.toLowerCase() ?? '')
    if (next === 'before' && state !== 'before') statements.push(script.slice(begin, end))
    if (state === 'before') begin = index
    end = index + text.length
    state = next
  }
  if (state !== 'before') statements.push(script.slice(begin, end))
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
