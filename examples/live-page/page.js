// Runs in the browser: shows the list as it is on the server, live.

import { remoteQuery } from '/client/index.mjs'

const list = document.querySelector('ol')
const form = document.querySelector('form')
const state = document.querySelector('#state')
let before

remoteQuery('/events').subscribe({
  next(rows, { commit }) {
    // A row that did not change is the same object as before.
    const known = new Set(before ?? rows)
    before = rows
    list.replaceChildren(...rows.map((row) => item(row, !known.has(row))))
    show(`${rows.length} dishes, as of commit ${commit}`)
  },
  state: (state) => state === 'stale' && show('connection lost, trying again …'),
})

form.onsubmit = (event) => {
  event.preventDefault()
  const name = new FormData(form).get('name')
  fetch('/dishes', { method: 'POST', body: JSON.stringify({ name }) })
  form.reset()
}

function item({ id, name, votes }, changed) {
  const row = element('li', '')
  row.classList.toggle('changed', changed)
  const more = element('button', '+1')
  more.onclick = () => fetch(`/dishes/${id}/votes`, { method: 'POST' })
  const less = element('button', '×')
  less.onclick = () => fetch(`/dishes/${id}`, { method: 'DELETE' })
  row.append(element('span', name), element('output', votes), more, less)
  return row
}

function element(tag, text) {
  const made = document.createElement(tag)
  made.textContent = text
  return made
}

function show(text) {
  state.textContent = text
}
