// node scripts/test-portability.mjs
//
// Tries on Linux what other systems would show: the engine's tests as a user that is not root, with the folder of
// temporary files below a link and with POSIX locks, as on macOS; the checkers in a checkout as Windows makes it; SQLite
// compiled by zig for the targets of a release. A part whose tool is missing is skipped, and says so.

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './lib/paths.mjs'
import { capture, run, runAsProgram } from './lib/process.mjs'

const NOBODY = 65534
const targets = [
  'x86_64-linux-gnu.2.17',
  'aarch64-linux-gnu.2.17',
  'x86_64-linux-musl',
  'aarch64-linux-musl',
  'x86_64-macos',
  'aarch64-macos',
  'x86_64-windows-gnu',
  'aarch64-windows-gnu',
]

/** Each returns why it was skipped, if it was. */
const parts = {
  'not root, linked TMPDIR, POSIX locks'(folder) {
    const isRoot = process.getuid?.() === 0
    if (isRoot && !starts('setpriv', ['--version'])) return 'there is no setpriv'
    const real = join(folder, 'real')
    const link = join(folder, 'link')
    mkdirSync(real)
    chmodSync(folder, 0o755)
    chmodSync(real, 0o777)
    symlinkSync(real, link)
    const built = ['test', '-p', 'resqlite', '--test', 'engine', '--no-run', '--message-format=json']
    const messages = capture('cargo', built, { showErrors: true }).trim().split('\n').map(JSON.parse)
    const { executable } = messages.find(({ target, executable }) => executable && target.name === 'engine')
    const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
    const env = { TMPDIR: link, RESQLITE_POSIX_LOCKS: '1' }
    const [command, ...args] = [...(isRoot ? ['setpriv', ...user] : []), executable, '--quiet']
    run(command, args, { cwd: join(root, 'crates', 'resqlite'), env })
  },

  'a checkout with core.autocrlf'(folder) {
    const clone = join(folder, 'clone')
    run('git', ['-c', 'core.autocrlf=true', 'clone', '--quiet', '--no-hardlinks', root, clone])
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    run(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'check', '.'], { cwd: clone })
    for (const script of ['guarantees.mjs', 'links.mjs'])
      run(process.execPath, [join('scripts', script)], { cwd: clone })
  },

  'SQLite for the targets of a release'(folder) {
    const zig = [['zig'], ['python3', '-m', 'ziglang']].find(([tool, ...args]) =>
      starts(tool, [...args, 'version']),
    )
    if (!zig) return 'there is no zig (python3 -m pip install ziglang)'
    const crate = join(root, 'crates', 'resqlite-sqlite-sys')
    const [options] = readFileSync(join(crate, 'build.rs'), 'utf8').split('CIPHER_OPTIONS')
    const names = [...options.matchAll(/^ {4}\("(\w+)", (?:None|Some\("(.*)"\))\)/gm)]
    const flags = names.map(([, name, value]) => `-D${name}${value === undefined ? '' : `=${value}`}`)
    const object = join(folder, 'sqlite3.o')
    for (const target of targets) {
      const own = target.includes('windows')
        ? ['SQLITE_MEMORY_BARRIER=MemoryBarrier()']
        : ['HAVE_LOCALTIME_R']
      if (target.includes('macos')) own.push('SQLITE_DEFAULT_CKPTFULLFSYNC=1')
      const [tool, ...args] = zig
      const compile = [
        ...args,
        'cc',
        '-target',
        target,
        '-c',
        'sqlite3.c',
        ...flags,
        ...own.map((name) => `-D${name}`),
        '-o',
        object,
      ]
      run(tool, compile, { cwd: join(crate, 'sqlite3') })
    }
  },
}

function starts(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

await runAsProgram(import.meta.url, () => {
  for (const [name, part] of Object.entries(parts)) {
    const folder = mkdtempSync(join(tmpdir(), 'portability-'))
    try {
      const skipped = part(folder)
      console.log(skipped ? `skipped: ${name}: ${skipped}` : `passed: ${name}`)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
})
