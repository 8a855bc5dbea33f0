// Runs in the browser: shows the list as this node has it, live, and how the node is doing.

import { remoteQuery } from '/client/index.mjs'

/** Between two looks at the node, in milliseconds. */
const LOOK_EVERY = 500

const find = (selector) => document.querySelector(selector)
const list = find('ol')
let updates = 0

remoteQuery('/events').subscribe({
  next(rows) {
    updates++
    const most = Math.max(1, ...rows.map(({ votes }) => votes))
    for (const [place, row] of rows.entries()) show(place, row, most)
    while (list.children.length > rows.length) list.lastChild.remove()
  },
  state: (state) => list.classList.toggle('stale', state !== 'live'),
})

/** Items are kept, so that a button does not vanish under the pointer. */
function show(place, { id, name, votes }, most) {
  const item = list.children[place] ?? list.appendChild(newItem())
  const [label, output, button] = item.children
  label.textContent = name
  output.textContent = votes.toLocaleString('en-US')
  button.onclick = () => vote(id, name)
  item.style.setProperty('--share', `${(100 * votes) / most}%`)
}

function newItem() {
  const item = document.createElement('li')
  const button = document.createElement('button')
  button.textContent = '+1'
  item.append(document.createElement('span'), document.createElement('output'), button)
  return item
}

async function vote(id, name) {
  say(`a vote for ${name} is on its way …`)
  try {
    const response = await fetch(`/dishes/${id}/votes`, { method: 'POST' })
    if (response.ok) return say(`a majority has your vote for ${name}`)
    const { code } = await response.json()
    const isThere = code === 'RESQLITE_NO_QUORUM' ? 'is not there' : 'may be there or not'
    say(`your vote for ${name} ${isThere}: ${code}`)
  } catch {
    say('this node does not answer: your vote may be there or not')
  }
}

async function look() {
  try {
    const response = await fetch('/status', { signal: AbortSignal.timeout(2_000) })
    describe(await response.json())
  } catch {
    describeGone()
  }
  setTimeout(look, LOOK_EVERY)
}

let before = { updates, at: performance.now() }

function describe({ name, role, applied, lagMs, writer, stopped, others }) {
  const now = { updates, at: performance.now() }
  const rate = ((now.updates - before.updates) / (now.at - before.at)) * 1_000
  before = now
  document.title = `${name} – ${role}`
  find('h1').textContent = name
  const elsewhere = role === 'follower' && writer ? `, ${writer} writes` : ''
  showRole(role, stopped?.message ?? `${role}${elsewhere}`)
  find('#applied').textContent = applied.toLocaleString('en-US')
  find('#lag').textContent = `${Math.round(lagMs)} ms`
  find('#updates').textContent = rate.toFixed(0)
  find('dl').classList.remove('stale')
  if (find('nav').children.length > 0) return
  for (const [other, url] of Object.entries(others)) {
    const link = document.createElement('a')
    link.href = url
    link.textContent = other
    find('nav').append(link)
  }
}

function describeGone() {
  showRole('gone', 'does not answer')
  find('dl').classList.add('stale')
}

function showRole(role, text) {
  const badge = find('#role')
  badge.dataset.role = role
  badge.textContent = text
}

function say(text) {
  find('#said').textContent = text
}

look()
