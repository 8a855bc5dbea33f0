// Runs the chosen audits, each in a process of its own, and prints their tables.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild } from '../child.mjs'
import { describeMachine } from '../machine.mjs'
import { progress } from '../progress.mjs'
import { useProfileBuild } from './build.mjs'
import { optionsFrom } from './options.mjs'
import { written } from './print.mjs'

const child = fileURLToPath(new URL('./child.mjs', import.meta.url))
const patience = 900_000 // ms

export async function main(argv) {
  let options
  try {
    options = optionsFrom(argv)
    if (!options.list && options.audits.some(({ build }) => build === 'profile')) useProfileBuild()
  } catch (error) {
    console.error(error.message)
    process.exitCode = 2
    return
  }
  if (options.list) {
    for (const { id, version, title } of options.audits) console.log(`${id.padEnd(24)} ${version}  ${title}`)
    return
  }
  delete process.env.RESQLITE_NATIVE_PATH // each child decides for itself
  const dir = fileURLToPath(new URL(`../data/audits-${process.pid}`, import.meta.url))
  mkdirSync(dir, { recursive: true })
  try {
    const run = { schema: 'resqlite.audits.v1', quick: options.quick, machine: await describeMachine(dir) }
    run.audits = []
    for (const audit of options.audits) run.audits.push(await runOne(audit, options, dir))
    if (options.json) writeFileSync(options.json, JSON.stringify(run, null, 1))
    console.log(written(run, options.markdown))
    if (run.audits.some(({ error }) => error)) process.exitCode = 1
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function runOne({ id, version, title, tables }, { quick }, parent) {
  progress(`${id}: running`)
  const dir = join(parent, id)
  mkdirSync(dir)
  const began = performance.now()
  try {
    const data = await runChild(child, [id, dir, JSON.stringify({ quick })], {
      execArgv: process.execArgv,
      timeout: patience,
    })
    const took = (performance.now() - began) / 1000
    progress(`${id}: ${took.toFixed(1)} s`, true)
    return { id, version, title, data, tables: tables(data) }
  } catch (error) {
    progress(`${id} failed: ${error.message}`, true)
    return { id, version, title, error: error.message }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
