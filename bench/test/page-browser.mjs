// A Chromium for the tests of the page, which may read files and nothing else.
import { existsSync } from 'node:fs'
import puppeteer from 'puppeteer-core'

const places = [
  process.env.CHROME_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

export async function launchChromium() {
  const executablePath = places.find((place) => place && existsSync(place))
  if (!executablePath)
    throw new Error(
      `the tests of the page need Chromium or Chrome: install it, or set CHROME_PATH to its program (looked at ${places.filter(Boolean).join(', ')})`,
    )
  return puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/**
 * Opens a file and waits until its script has drawn everything. `complaints` collects requests for anything but a file,
 * errors, and what was written to the console as a warning or an error.
 */
export async function openPage(browser, address, { width = 1400, scheme = 'light' } = {}) {
  const page = await browser.newPage()
  const complaints = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(`console: ${message.text()}`)
  })
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const url = request.url()
    if (url.startsWith('file:') || url.startsWith('data:')) return request.continue()
    complaints.push(`request: ${url}`)
    return request.abort()
  })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.setViewport({ width, height: 1000 })
  await page.goto(address)
  await page.waitForSelector('html[data-ready]', { timeout: 20_000 })
  return { page, complaints }
}
