import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Bundles a module as for a browser and imports it. Some packages have other contents for Node.js, where nothing is drawn.
 *
 * @param text the text of the module
 */
export async function importForBrowser<M>(text: string, plugins: Plugin[] = []): Promise<M> {
  // Beside the tests, so that it finds the packages.
  const folder = mkdtempSync(join(root, 'build', 'bundle-'))
  const outfile = join(folder, 'bundle.mjs')
  try {
    await build({
      stdin: { contents: text, resolveDir: root },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      conditions: ['development'],
      logLevel: 'error',
      plugins,
    })
    return (await import(pathToFileURL(outfile).href)) as M
  } finally {
    rmSync(folder, { recursive: true })
  }
}
