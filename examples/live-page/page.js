// Runs in the browser: shows the list and folds in every patch that the server sends.

import { fold } from './fold.js'

const list = document.querySelector('ol')
const form = document.querySelector('form')
const state = document.querySelector('#state')
let rows = []

const events = new EventSource('/events')
events.onerror = () => show('connection lost, trying again …') // the first patch of the next one has all rows
events.onmessage = ({ data }) => {
  const patch = JSON.parse(data)
  rows = fold(rows, patch)
  const changed = new Set([...patch.added, ...patch.updated].map(({ row }) => row.id))
  list.replaceChildren(...rows.map((row) => item(row, changed.has(row.id) && !patch.initial)))
  show(`${rows.length} dishes, as of commit ${patch.commit}`)
}

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
