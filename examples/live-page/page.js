// Runs in the browser: shows the list as it is on the server, live.

import { remoteQuery } from '/client/index.mjs'

const list = document.querySelector('ol')
const form = document.querySelector('form')
const state = document.querySelector('#state')
const problem = document.querySelector('[role=alert]')
let before

remoteQuery('/events').subscribe({
  next(rows, { commit }) {
    // A row that did not change is the same object as before.
    const known = new Set(before ?? rows)
    before = rows
    moving(() => list.replaceChildren(...rows.map((row) => item(row, !known.has(row)))))
    show(`${rows.length} dishes, as of commit ${commit}`)
  },
  state: (state) => state === 'stale' && show('connection lost, trying again …'),
})

form.onsubmit = async (event) => {
  event.preventDefault()
  const name = new FormData(form).get('name')
  // A name that was not saved stays in the field.
  if (await send('POST', '/dishes', { name })) form.reset()
}

/** Returns whether the server has done it. If not, the page says why. */
async function send(method, path, body) {
  try {
    const response = await fetch(path, { method, body: body && JSON.stringify(body) })
    problem.textContent = response.ok ? '' : (await response.json()).error
    return response.ok
  } catch {
    problem.textContent = 'The server cannot be reached. Nothing was saved.'
    return false
  }
}

function item({ id, name, votes }, changed) {
  const row = element('li', '')
  row.dataset.id = id
  row.classList.toggle('changed', changed)
  const more = element('button', '+1')
  more.onclick = () => send('POST', `/dishes/${id}/votes`)
  const less = element('button', '×')
  less.onclick = () => send('DELETE', `/dishes/${id}`)
  for (const [button, label] of [
    [more, `A vote for ${name}`],
    [less, `Remove ${name}`],
  ])
    button.setAttribute('aria-label', label)
  row.append(element('span', name), element('output', votes), more, less)
  return row
}

/** Draws the list anew, and lets each row slide from its old place to its new one. */
function moving(draw) {
  const places = new Map([...list.children].map((row) => [row.dataset.id, row.offsetTop]))
  draw()
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  for (const row of list.children) {
    const way = (places.get(row.dataset.id) ?? row.offsetTop) - row.offsetTop
    if (way !== 0) row.animate({ translate: [`0 ${way}px`, '0 0'] }, { duration: 300, easing: 'ease' })
  }
}

function element(tag, text) {
  const made = document.createElement(tag)
  made.textContent = text
  return made
}

function show(text) {
  state.textContent = text
}
