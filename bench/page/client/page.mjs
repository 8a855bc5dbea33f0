// Puts the page together; draws its charts again when there is more or less room.
import { benchmarkArticle } from './benchmark.mjs'
import { guttersIn } from './charts.mjs'
import { el, section } from './dom.mjs'
import { headOf, shortSection, versionSection } from './head.mjs'
import { liveArticle } from './live.mjs'
import { releaseSection } from './releases.mjs'
import { lossSection, targetSection } from './tables.mjs'

const model = JSON.parse(document.getElementById('data').textContent)
const main = document.getElementById('main')
const contents = document.getElementById('contents')

/** A4 between its margins, in px. */
const paperWidth = 700

const drawings = []
const groupSections = model.groups.map(({ id, title, benchmarks }) => {
  const articles = benchmarks.map(benchmarkArticle)
  drawings.push(...articles.map(({ draw }) => draw))
  return section(
    `g-${id}`,
    title,
    articles.map(({ article }) => article),
  )
})
const liveSection = section(
  'live',
  'Live queries',
  el(
    'p',
    { class: 'note' },
    'resqlite alone: the same calls with and without live queries, or a live query beside a plain query, taking turns. Points are rounds, ',
    'the band lies between the quartiles, the dashed line is the target. Query builders: the same calls on their usual driver and on resqlite.',
  ),
  model.live.map((result) => liveArticle(result, model.targets)),
)

const sections = [
  shortSection(model),
  ...groupSections,
  ...(model.live.length > 0 ? [liveSection] : []),
  targetSection(model.targets),
  lossSection(model.losses),
  releaseSection(model.releases),
  versionSection(model),
]
main.replaceChildren(headOf(model), ...sections)

const links = sections.map(({ id, firstChild }) => el('a', { href: `#${id}` }, firstChild.textContent))
contents.append(
  el(
    'ol',
    {},
    links.map((link) => el('li', {}, link)),
  ),
)

const peerNames = Object.keys(model.head.versions)
let drawn = 0
/** Below this width (px) nothing can be seen: the page is not laid out yet, or hidden. */
const leastWidth = 150
function drawAt(width) {
  if (width === drawn || width < leastWidth) return
  drawn = width
  const gutter = guttersIn(width, peerNames)
  for (const one of drawings) one(width, gutter)
}

function draw() {
  const { paddingLeft, paddingRight } = getComputedStyle(main)
  drawAt(Math.floor(main.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)))
}
draw()
new ResizeObserver(draw).observe(main)
addEventListener('beforeprint', () => drawAt(paperWidth))
addEventListener('afterprint', draw)

/** Marks the section that is being read in the list of contents. */
const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) markCurrent(target.id)
  },
  { rootMargin: '-15% 0px -80% 0px' },
)
for (const one of sections) seen.observe(one)

function markCurrent(id) {
  for (const link of links) link.removeAttribute('aria-current')
  const current = links.find((link) => link.getAttribute('href') === `#${id}`)
  current.setAttribute('aria-current', 'true')
  // The contents scroll sideways where they are a line.
  contents.scrollTo({ left: current.offsetLeft - contents.clientWidth / 2 + current.offsetWidth / 2 })
}

// An address with a place in it was followed before there was anything to go to.
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView()
document.documentElement.dataset.ready = 'true'
