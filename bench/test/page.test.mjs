import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { makePage } from '../page/index.mjs'
import { series } from '../series.mjs'
import { summary } from '../summary.mjs'
import { verdicts } from '../verdicts.mjs'
import { launchChromium, openPage } from './page-browser.mjs'
import { runOf, runs } from './page-data.mjs'

const stored = runs()
const newest = stored.at(-1)
const all = series(newest)
const folder = mkdtempSync(join(tmpdir(), 'resqlite-page-'))
const out = join(folder, 'report.html')
const address = pathToFileURL(out).href
let browser

before(async () => {
  await makePage(stored, { out })
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What `look` finds in the page; fails when the page complained meanwhile. */
async function seen(look, { at = address, act, ...options } = {}) {
  const { page, complaints } = await openPage(browser, at, options)
  try {
    await act?.(page)
    const found = await page.evaluate(look)
    assert.deepEqual(complaints, [])
    return found
  } finally {
    await page.close()
  }
}

/** The page of other runs, as a file of its own. */
async function pageOfRuns(name, others) {
  const file = join(folder, name)
  await makePage(others, { out: file })
  return pathToFileURL(file).href
}

const peersOf = (benchmark, measure) =>
  all.filter((one) => one.group !== 'live' && one.benchmark === benchmark && one.measure === measure)
const named = ({ benchmark, measure }) => `${benchmark}/${measure}`
const sorted = (list) => [...list].sort()

// --- the file ------------------------------------------------------------------------------------------------

test('the page is one file below 1.5 MB and its data', () => {
  const text = readFileSync(out, 'utf8')
  const data = text.match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1]
  assert.ok(text.length - data.length < 1.5e6, `${text.length - data.length} characters`)
  assert.equal(JSON.parse(data).head.commit, newest.commit)
})

// G186
test('it opens without a network, an error or a warning, and with the network forbidden by itself', async () => {
  const policy = await seen(() => document.querySelector('meta[http-equiv]').content)
  assert.match(policy, /default-src 'none'/)
})

test('what was measured is text: names with < and & make no elements', async () => {
  const found = await seen(() => ({
    strangers: document.querySelectorAll('main b, main error, main split').length,
    title: [...document.querySelectorAll('h3')].map((title) => title.textContent),
    head: document.querySelector('header').textContent,
  }))
  assert.equal(found.strangers, 0)
  assert.ok(found.title.includes('rows of 20 columns where a < b & c > "d" <b>bold</b>'))
  assert.ok(found.head.includes('after the <split> & merge'))
})

// --- charts --------------------------------------------------------------------------------------------------

const charts = () =>
  [...document.querySelectorAll('figure[data-chart]')].map((figure) => {
    const { chart, benchmark, measure, points } = figure.dataset
    const all = (name, shape) => [...figure.querySelectorAll(`g.${name} ${shape}`)]
    return {
      chart,
      benchmark,
      measure,
      points: Number(points),
      bars: all('median', 'rect').map((bar) => bar.getBoundingClientRect().width),
      dots: all('median', 'circle').map((dot) => dot.getBoundingClientRect().x),
      values: all('value', 'circle').length,
      whiskers: all('quartiles', 'line').length,
      targets: all('target', 'line').length,
      texts: [...figure.querySelectorAll('svg text')].map((text) => text.textContent),
      label: figure.querySelector('svg').getAttribute('aria-label'),
      inTargets: figure.closest('#targets') !== null,
    }
  })

// G186
test('every benchmark and measure has its chart, and every chart one mark for each peer with figures', async () => {
  const found = (await seen(charts)).filter(({ chart }) => chart === 'peers')
  const expected = new Set(all.filter(({ group }) => group !== 'live').map(named))
  assert.deepEqual(sorted(found.map(named)), sorted(expected))
  for (const { benchmark, measure, points, bars, dots, whiskers, texts, label } of found) {
    const peers = peersOf(benchmark, measure)
    const what = `${benchmark} ${measure}`
    assert.equal(points, peers.length, what)
    assert.equal(bars.length + dots.length, peers.length, what)
    assert.equal(whiskers, peers.filter(({ values }) => values.length > 1).length, what)
    const result = newest.results.find(({ id, shape }) => `${id} · ${shape}` === benchmark)
    const failed = Object.values(result.peers).filter(({ error }) => error).length
    assert.equal(texts.filter((text) => text === 'failed').length, failed, what)
    const without = Object.values(result.peers).length - peers.length - failed
    assert.equal(texts.filter((text) => text === '–').length, without, what)
    for (const { peer } of peers) assert.ok(label.includes(`${peer}: `), `${what}: ${label}`)
  }
})

test('bars are as long as their medians, and points stand in the order of theirs', async () => {
  const found = (await seen(charts)).filter(({ chart }) => chart === 'peers')
  for (const { benchmark, measure, bars, dots } of found) {
    const medians = peersOf(benchmark, measure).map(({ values }) => summary(values).median)
    const longest = Math.max(...medians)
    const scale = Math.max(...bars) / longest
    assert.equal(bars.length || dots.length, medians.length)
    bars.forEach((width, index) => {
      assert.ok(Math.abs(width - medians[index] * scale) < 1.5, `${benchmark} ${measure} ${index}`)
    })
    const order = (numbers) => numbers.map((_, index) => index).sort((a, b) => numbers[a] - numbers[b])
    if (dots.length > 0 && new Set(medians).size === medians.length)
      assert.deepEqual(order(dots), order(medians), `${benchmark} ${measure}`)
  }
})

test('a peer stands at the same height in all charts of a benchmark, whatever their scales', async () => {
  const heights = await seen(() => {
    const heightOf = (mark) => {
      const { y, height } = mark.getBoundingClientRect()
      return y + height / 2 - mark.closest('svg').getBoundingClientRect().y
    }
    return [...document.querySelectorAll('.charts')].map((charts) =>
      [...charts.querySelectorAll('figure.peers')].map((figure) =>
        [...figure.querySelectorAll('g.median > *')].map(heightOf),
      ),
    )
  })
  assert.ok(heights.length > 10)
  for (const [first, ...others] of heights.filter((charts) => charts.length > 0))
    for (const other of others)
      other.forEach((height, index) => {
        assert.ok(Math.abs(height - first[index]) < 1, `${other} instead of ${first}`)
      })
})

test('every figure of live queries shows all its values, and its target where it has one', async () => {
  const found = (await seen(charts)).filter(({ chart, inTargets }) => chart === 'range' && !inTargets)
  const live = all.filter(({ group }) => group === 'live')
  const judged = verdicts(newest)
  assert.deepEqual(found.map(named), live.map(named))
  live.forEach(({ benchmark, measureTitle, values }, index) => {
    assert.equal(found[index].values, values.length, measureTitle)
    assert.equal(found[index].points, values.length, measureTitle)
    const target = judged.some((one) => one.benchmark === benchmark && one.measure === measureTitle)
    assert.equal(found[index].targets, target ? 1 : 0, measureTitle)
  })
})

test('there are as many marks when the page has become narrower after it was drawn', async () => {
  const count = (list) => list.map(({ bars, dots, values }) => bars.length + dots.length + values)
  const narrowed = async (page) => {
    await page.setViewport({ width: 390, height: 900 })
    await page.waitForFunction(() => document.querySelector('figure.peers svg').clientWidth <= 390)
  }
  const before = count(await seen(charts))
  assert.ok(before.every((marks) => marks > 0))
  assert.deepEqual(count(await seen(charts, { act: narrowed })), before)
})

test('a failure is told with its message, and all numbers of a benchmark can be read', async () => {
  const found = await seen(() => ({
    failures: [...document.querySelectorAll('article .failure')].map((line) => line.textContent),
    raw: document.querySelector('#b-select-1k-items details table').textContent,
    rows: document.querySelectorAll('#b-select-1k-items details tbody tr').length,
  }))
  assert.ok(found.failures.includes('@powersync/node failed: <Error> no such table: @powersync/node & more'))
  assert.ok(found.failures.includes('failed: <Error> the child & its pipe are gone'))
  const measured = all.filter(({ benchmark }) => benchmark === 'select-1k · items')
  assert.equal(found.rows, measured.length)
})

// --- history -------------------------------------------------------------------------------------------------

test('history has the runs of the same machine, kind and version, and nothing else', async () => {
  const found = (await seen(charts)).filter(({ chart }) => chart === 'history')
  const alike = stored.filter((run) => !run.quick && run.machine.cpu === newest.machine.cpu)
  const ours = all.filter(({ peer }) => peer === 'resqlite')
  assert.deepEqual(sorted(found.map(named)), sorted(ours.map(named)))
  for (const { benchmark, measure, points, dots } of found) {
    const { key, version } = ours.find((one) => one.benchmark === benchmark && one.measure === measure)
    const same = alike.filter((run) => series(run).some((one) => one.key === key && one.version === version))
    assert.equal(points, same.length, key)
    assert.equal(dots.length, same.length, key)
  }
  assert.deepEqual(new Set(found.map(({ points }) => points)), new Set([2, 3]))
})

test('a single run has no history', async () => {
  const at = await pageOfRuns('single.html', [newest])
  const found = await seen(charts, { at })
  assert.deepEqual(
    found.filter(({ chart }) => chart === 'history'),
    [],
  )
})

test('the newest full run is shown, also when a quick one is newer; a quick one says that it is', async () => {
  const quick = runOf({ seed: 9, day: 9, speed: 1, quick: true })
  const about = () => document.querySelector('header').textContent
  assert.ok(
    (await seen(about, { at: await pageOfRuns('both.html', [newest, quick]) })).includes(newest.commit),
  )
  const alone = await seen(about, { at: await pageOfRuns('quick.html', [quick]) })
  assert.ok(alone.includes('A quick run') && alone.includes(quick.commit))
})

// --- what is said --------------------------------------------------------------------------------------------

/** Benchmark × measure → the peers whose median is better than resqlite's, from the samples as stored. */
function expectedLosses() {
  const found = []
  for (const { id, shape, measures = {}, peers } of newest.results) {
    const usual = { wall: 'lower', main: 'lower', delay: 'lower' }
    const own = Object.entries(measures).map(([name, { better }]) => [name, better])
    for (const [measure, better] of [...Object.entries(usual), ...own]) {
      const medianOf = ({ samples, delays }) => {
        const values = measure === 'delay' ? delays : samples?.map((sample) => sample[measure])
        return values?.every(Number.isFinite) ? summary(values).median : undefined
      }
      const ours = medianOf(peers.resqlite)
      if (ours === undefined || better === 'none') continue
      const factors = Object.entries(peers).flatMap(([name, peer]) => {
        const theirs = name === 'resqlite' ? undefined : medianOf(peer)
        if (theirs === undefined) return []
        const factor = better === 'lower' ? ours / theirs : theirs / ours
        return factor > 1 ? [{ name, factor }] : []
      })
      factors.sort((a, b) => b.factor - a.factor)
      if (factors.length > 0) found.push({ benchmark: `${id} · ${shape}`, measure, factors })
    }
  }
  return found.sort((a, b) => b.factors[0].factor - a.factors[0].factor)
}

const lossLines = () =>
  [...document.querySelectorAll('tr[data-loss]')].map((line) => ({
    benchmark: line.dataset.loss,
    measure: line.dataset.measure,
    factor: Number.parseFloat(line.cells[1].textContent),
    best: line.cells[3].textContent,
    others: line.cells[7].textContent,
    hidden: line.hidden,
  }))

// G186
test('“What we lose” names every benchmark and measure in which a peer is better, by falling factor', async () => {
  const found = await seen(lossLines)
  const expected = expectedLosses()
  assert.ok(expected.length > 5)
  assert.deepEqual(found.map(named), expected.map(named))
  expected.forEach(({ factors: [best, ...others] }, index) => {
    const line = found[index]
    assert.equal(line.best, best.name)
    assert.ok(Math.abs(line.factor - best.factor) <= best.factor / 100)
    assert.equal(line.others.split(/,(?= )/).length, Math.max(others.length, 1))
    for (const { name } of others) assert.ok(line.others.includes(name), line.others)
  })
})

test('… and what resqlite cannot do, or failed at, while another can', async () => {
  const found = await seen(() =>
    [...document.querySelectorAll('[data-missing]')].map((line) => line.textContent),
  )
  assert.equal(found.length, 2)
  assert.match(found[0], /^nested · t: resqlite cannot do it\. It can be done by better-sqlite3, /)
  assert.match(found[1], /^broken · items: resqlite failed: <Error> no such table/)
})

test('the lines of “What we lose” can be narrowed to one measure', async () => {
  const found = await seen(lossLines, { act: (page) => page.click('.filter input[value="wall time"]') })
  for (const { measure, hidden } of found) assert.equal(hidden, measure !== 'wall')
})

test('the tiles count what resqlite leads and what it loses', async () => {
  const tiles = await seen(() => [...document.querySelectorAll('.tile')].map((tile) => tile.textContent))
  const lost = expectedLosses().filter(({ measure }) => measure === 'wall').length
  const contested = newest.results.filter(({ peers }) => peers.resqlite?.samples).length
  assert.ok(
    tiles.includes(
      `Wall time${contested - lost} of ${contested}led by resqlite; a peer is better in ${lost}`,
    ),
    tiles.join('\n'),
  )
})

test('targets have the verdicts of the run, in words', async () => {
  const found = await seen(() =>
    [...document.querySelectorAll('#targets tbody tr')].map(
      (line) => line.querySelector('.verdict').lastChild.textContent,
    ),
  )
  const words = { yes: 'met', no: 'missed', unclear: 'unclear' }
  assert.deepEqual(
    found,
    verdicts(newest).map(({ met }) => words[met]),
  )
  assert.deepEqual(new Set(found), new Set(['met', 'missed', 'unclear']))
})

// --- how it looks --------------------------------------------------------------------------------------------

for (const width of [390, 768, 1400])
  test(`nothing is wider than the page at ${width} px, with all details open`, async () => {
    const act = (page) =>
      page.evaluate(() => {
        for (const one of document.querySelectorAll('details')) one.open = true
      })
    const found = await seen(
      () => [document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth],
      { width, act },
    )
    assert.deepEqual(found, [width, width, width])
  })

test('charts on a narrow page have room for their bars', async () => {
  const found = (await seen(charts, { width: 390 })).filter(({ bars }) => bars.length > 0)
  assert.ok(found.length > 30)
  for (const { benchmark, bars } of found) assert.ok(Math.max(...bars) > 80, `${benchmark}: ${bars}`)
})

/** The least contrast of any text with what lies behind it, and the background. */
function contrast() {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number)
  const luminance = (colour) => {
    const [r, g, b] = channels(colour)
      .slice(0, 3)
      .map((channel) => channel / 255)
      .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor
      if ((channels(colour)[3] ?? 1) > 0) return colour
    }
    return 'rgb(255, 255, 255)'
  }
  const ratios = [...document.querySelectorAll('body *')]
    .filter((element) => !['SCRIPT', 'STYLE', 'title', 'NOSCRIPT'].includes(element.tagName))
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((element) => {
      const style = getComputedStyle(element)
      const text = luminance(element instanceof SVGElement ? style.fill : style.color)
      const paper = luminance(behind(element))
      const [dark, light] = [text, paper].sort((a, b) => a - b)
      return { ratio: (light + 0.05) / (dark + 0.05), text: element.textContent.slice(0, 40) }
    })
  const [least] = ratios.sort((a, b) => a.ratio - b.ratio)
  return { least, texts: ratios.length, paper: luminance(behind(document.body)) }
}

for (const scheme of ['light', 'dark'])
  test(`the ${scheme} page has a ${scheme} background, and all its text a contrast of at least 4.5`, async () => {
    const { least, texts, paper } = await seen(contrast, { scheme })
    assert.ok(scheme === 'dark' ? paper < 0.02 : paper > 0.9, `luminance ${paper}`)
    assert.ok(texts > 500)
    assert.ok(least.ratio >= 4.5, `“${least.text}”: ${least.ratio.toFixed(2)}`)
  })

test('every chart tells in words what it shows, and every table box can be reached with the keyboard', async () => {
  const found = await seen(() => ({
    silent: [...document.querySelectorAll('figure svg')].filter(
      (svg) => svg.getAttribute('role') !== 'img' || !svg.getAttribute('aria-label'),
    ).length,
    boxes: [...document.querySelectorAll('.box')].filter((box) => box.tabIndex !== 0 || !box.ariaLabel)
      .length,
    ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    links: [...document.querySelectorAll('a[href^="#"]')].map((link) => link.getAttribute('href').slice(1)),
  }))
  assert.equal(found.silent, 0)
  assert.equal(found.boxes, 0)
  assert.equal(new Set(found.ids).size, found.ids.length)
  for (const link of found.links) assert.ok(found.ids.includes(link), `#${link}`)
})
