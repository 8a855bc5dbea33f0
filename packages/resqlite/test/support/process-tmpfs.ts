import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Returns why no file system of a given size can be mounted here; undefined if one can. */
export function noMount(): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs is mounted on Linux only'
  if (process.getuid?.() !== 0) return 'only root can mount'
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-'))
  const reason = mount(folder, 64)
  if (reason === undefined) unmount(folder)
  rmSync(folder, { recursive: true })
  return reason
}

/** Returns a folder with room for so many KiB. It exists as long as the test. */
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
  // Lazily, because a test that failed may still have files open.
  spawnSync('umount', ['-l', folder])
}
