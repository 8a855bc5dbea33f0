/**
 * TypeScript declarations from what the macros of napi-derive wrote: one JSON object per line, for each struct, its
 * methods (`impl`) and each function. A kind that the binding does not use is refused.
 */
export function declarations(definitions) {
  const items = definitions
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const methods = (name) => items.filter((item) => item.kind === 'impl' && item.name === name)
  const parts = items.map((item) => {
    if (item.kind === 'impl') return ''
    if (item.kind === 'fn') return `export declare ${item.def}\n`
    if (item.kind === 'struct') return classOf(item, methods(item.name))
    throw new Error(`no declaration for a ${item.kind} (${item.name}) is known here`)
  })
  return `// Generated from crates/resqlite-node when it is built.\n\n${parts.join('')}`
}

function classOf({ name, def }, implementations) {
  const members = [def, ...implementations.map((item) => item.def)].join('\n').split('\n')
  const lines = members.map((member) => member.trim()).filter(Boolean)
  return `export declare class ${name} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`
}
