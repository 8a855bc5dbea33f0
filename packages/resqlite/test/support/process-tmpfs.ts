import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Why no file system of a given size can be mounted here; undefined if it can. */
export function noMount(): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs is mounted on Linux only'
  if (process.getuid?.() !== 0) return 'only root can mount'
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-'))
  const reason = mount(folder, 64)
  if (reason === undefined) unmount(folder)
  rmSync(folder, { recursive: true })
  return reason
}

/** A folder that holds no more than so many KiB; it exists as long as the test. */
export function smallFolder(t: TestContext, kib: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-'))
  const reason = mount(folder, kib)
  if (reason !== undefined) throw new Error(reason)
  t.after(() => {
    unmount(folder)
    rmSync(folder, { recursive: true })
  })
  return folder
}

function mount(folder: string, kib: number): string | undefined {
  const { status, stderr, error } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', folder],
    {
      encoding: 'utf8',
    },
  )
  return status === 0 ? undefined : `tmpfs cannot be mounted: ${stderr || error}`
}

function unmount(folder: string): void {
  // Lazily: a test that failed may still have files open.
  spawnSync('umount', ['-l', folder])
}
