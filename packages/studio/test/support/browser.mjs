import { existsSync } from 'node:fs'
import { after } from 'node:test'
import { chromium } from 'playwright-core'

/** Where systems have Chromium. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser of this machine; undefined if there is none. */
const executablePath = [process.env.CHROMIUM_PATH, ...PLACES].find((path) => path && existsSync(path))

const skip = executablePath === undefined && 'Chromium is not installed'

/** For tests that need a browser. */
export const inBrowser = { skip, timeout: 60_000 }

/** Nothing that makes Chromium talk to anybody but the page. */
const ALONE = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let launched
after(async () => (await launched)?.close())

/** The one browser of a test file. */
function theBrowser() {
  launched ??= chromium.launch({ executablePath, args: ALONE })
  return launched
}

/**
 * Opens the page of a studio. It fails the test, when it ends, if the page has asked another address, logged an error or a
 * warning, shown a dialog, or broken its policy.
 */
export async function openPage(t, client, hash = '', options = {}) {
  const browser = await theBrowser()
  const context = await browser.newContext({ viewport: { width: 1200, height: 700 }, ...options })
  const page = await context.newPage()
  const complaints = []
  page.on('request', (request) => {
    if (!request.url().startsWith(`http://127.0.0.1:${client.port}/`))
      complaints.push(`asked ${request.url()}`)
  })
  page.on('dialog', (dialog) => {
    complaints.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('pageerror', (error) => complaints.push(error.stack))
  page.on('console', (message) => {
    // An error of SQL is answered with a status of its own; after a test, its server is gone.
    const expected = /status of 4\d\d|net::ERR_|Content Security Policy/.test(message.text())
    if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(message.text())
  })
  // Chromium itself styles what is typed over a selection. That is blocked, too, and nobody's fault.
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      const [target] = event.composedPath()
      if (target.closest?.('.cm-content') === null) console.error(`violates ${event.violatedDirective}`)
    })
  })
  await page.goto(client.url)
  await page.locator('.side .tables a').first().waitFor({ state: 'attached' })
  if (hash !== '') await page.evaluate((to) => location.assign(to), hash)
  t.after(async () => {
    await context.close()
    if (complaints.length > 0) throw new Error(`the page complained:\n${complaints.join('\n')}`)
  })
  return page
}
