import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** For tests that need a browser: why they are skipped; false if they are not. */
export const skip = !existsSync(executablePath) && 'Chromium is not installed'

/**
 * Opens a page in Chromium until the test ends.
 *
 * @returns the page of Playwright, `shows(selector, texts)`, which waits until the elements have these texts, and
 * `complaints`, the errors that the page has reported.
 */
export async function openPage(t, url) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  t.after(() => browser.close())
  const page = await browser.newPage()
  const complaints = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // The browser itself reports requests that fail.
    if (message.type() === 'error' && !/Failed to load|net::ERR_/.test(message.text()))
      complaints.push(message.text())
  })
  await page.goto(url)
  const shows = (selector, texts) =>
    page.waitForFunction(
      ([selector, expected]) =>
        JSON.stringify([...document.querySelectorAll(selector)].map((element) => element.textContent)) ===
        expected,
      [selector, JSON.stringify(texts)],
    )
  return { page, shows, complaints }
}
