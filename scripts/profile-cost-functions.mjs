// Compares the machine code of programs function by function, for scripts/profile-cost.sh:
//
//   node scripts/profile-cost-functions.mjs <a> <b> <c>
//
// Addresses are left out, and so are the hashes in Rust's names. Functions of one name (instances of generic ones) are
// compared as a set. Fails if `b` has a function or a variable that says "profile::" in its name.

import { execFileSync } from 'node:child_process'

const [a, b, c] = process.argv.slice(2)
if (!c) throw new Error('usage: node scripts/profile-cost-functions.mjs <a> <b> <c>')

const before = functions(a)
const off = functions(b)
compare('(a) and (b)', before, off)
compare('(b) and (c)', off, functions(c))
console.log(`.text in bytes: (a) ${textBytes(a)}, (b) ${textBytes(b)}, (c) ${textBytes(c)}`)
console.log(`symbols of the counters: (b) ${counters(b).length}, (c) ${counters(c).length}`)
if (counters(b).length > 0) {
  console.error(`(b) should have none:\n${counters(b).join('\n')}`)
  process.exitCode = 1
}

function compare(title, left, right) {
  const names = new Set([...left.keys(), ...right.keys()])
  const differing = [...names].filter((name) => key(left.get(name)) !== key(right.get(name)))
  const only = (one, other) => differing.filter((name) => one.has(name) && !other.has(name))
  const both = differing.filter((name) => left.has(name) && right.has(name))
  console.log(`\n${title}: ${names.size - differing.length} of ${names.size} functions are the same`)
  list('  only in the first', only(left, right))
  list('  only in the second', only(right, left))
  list(
    '  in both, and not the same',
    both,
    (name) => ` (${count(left, name)} → ${count(right, name)} instructions)`,
  )
}

function list(title, names, more = () => '') {
  console.log(`${title}: ${names.length}`)
  for (const name of names.sort()) console.log(`    ${name}${more(name)}`)
}

function key(bodies) {
  return bodies?.join('\n\n')
}

function count(program, name) {
  return program.get(name).reduce((sum, body) => sum + body.split('\n').length, 0)
}

/** The instructions of each function by its name; of several of one name, sorted. */
function functions(file) {
  const found = new Map()
  for (const block of objdump('-d', '--no-show-raw-insn', '-C', file).split('\n\n')) {
    const [heading, ...lines] = block.trim().split('\n')
    const [, name] = /^[0-9a-f]+ <(.+)>:$/.exec(heading) ?? []
    if (name) put(found, plain(name), lines.map(instruction).filter(isNoPadding).join('\n'))
  }
  for (const bodies of found.values()) bodies.sort()
  return found
}

function put(found, name, body) {
  found.set(name, [...(found.get(name) ?? []), body])
}

/** Without its address, and with names in the place of those it speaks about. */
function instruction(line) {
  const text = line.replace(/^\s*[0-9a-f]+:\s*/, '').trim()
  return plain(text.replace(/\s+#.*$/, ''))
    .replace(/-?0x[0-9a-f]+\(%rip\)/g, 'there(%rip)')
    .replace(/\b[0-9a-f]+ </, '<')
}

/** The bytes that fill the space up to the next function. */
function isNoPadding(text) {
  return !/^(nop|int3|xchg\s+%ax,%ax|cs nop|data16)/.test(text)
}

function plain(name) {
  return name.replace(/::h[0-9a-f]{16}/g, '').replace(/\[[0-9a-f]{16}\]/g, '')
}

function counters(file) {
  return objdump('-t', '-C', file)
    .split('\n')
    .filter((line) => /profile::/.test(line) && !/profile_cost::/.test(line))
}

function textBytes(file) {
  const [, size] = /\.text\s+([0-9a-f]+)/.exec(objdump('-h', file))
  return Number.parseInt(size, 16)
}

function objdump(...args) {
  return execFileSync('objdump', args, { encoding: 'utf8', maxBuffer: 1 << 30 })
}
