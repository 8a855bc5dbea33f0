import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { temporaryFolder } from './support/cli.mjs'
import { runHere } from './support/run-here.mjs'

const folder = temporaryFolder()

/** Why tests for a shell are skipped; false where it is installed. */
function missing(shell) {
  const works = process.platform !== 'win32' && spawnSync(shell, ['-c', 'exit 0']).status === 0
  return works ? false : `${shell} is not installed`
}

/** Writes the script for a shell into a file. */
async function script(shell) {
  const { stdout } = await runHere(['completion', shell])
  const file = join(folder, `_resqlite.${shell}`)
  writeFileSync(file, stdout)
  return file
}

function output(command, args) {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8', cwd: folder })
  assert.deepEqual({ stderr, status }, { stderr: '', status: 0 })
  return stdout.trim()
}

describe('resqlite completion', () => {
  test('completes commands, options and their values in bash', { skip: missing('bash') }, async () => {
    const file = await script('bash')
    const completed = (...words) =>
      output('bash', [
        '-c',
        `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _resqlite; echo "\${COMPREPLY[@]}"`,
        file,
        ...words,
      ])
    assert.equal(completed('resqlite', 'ex'), 'export explain')
    assert.equal(completed('resqlite', 'import', '--cr'), '--create')
    assert.equal(
      completed('resqlite', 'query', 'app.db', 'SELECT 1', '--format', ''),
      'table box line markdown html json ndjson csv tsv insert',
    )
    assert.equal(completed('resqlite', 'completion', ''), 'bash zsh fish')
  })

  test('completes commands, options and their values in fish', { skip: missing('fish') }, async () => {
    const file = await script('fish')
    const completed = (line) =>
      output('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', '--', file, line])
        .split('\n')
        .map((text) => text.split('\t')[0])
    assert.deepEqual(completed('resqlite ex'), ['explain', 'export'])
    assert.deepEqual(completed('resqlite import --cr'), ['--create'])
    assert.deepEqual(completed('resqlite query --format '), ['csv', 'json', 'ndjson', 'table'])
  })

  test('has valid syntax in zsh, and defines the completion', { skip: missing('zsh') }, async () => {
    const file = await script('zsh')
    const program = 'compdef() { print -r -- "$@" }; source $1; whence -w _resqlite'
    assert.equal(output('zsh', ['-f', '-c', program, 'zsh', file]), '_resqlite resqlite\n_resqlite: function')
  })

  test('knows no other shell', async () => {
    const { code, stderr } = await runHere(['completion', 'tcsh'])
    assert.equal(code, 2)
    assert.match(stderr, /bash, zsh, fish/)
  })
})
