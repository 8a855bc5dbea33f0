import { remoteQuery } from 'resqlite/client'
import { portFetch } from 'resqlite/message-port'

window.addEventListener('message', ({ data, ports }) => {
  if (data === 'port') start(portFetch(ports[0]))
})

function start(fetch) {
  const list = document.querySelector('ul')
  remoteQuery('/tasks', { fetch }).subscribe((rows) => {
    list.replaceChildren(
      ...rows.map(({ title }) => Object.assign(document.createElement('li'), { textContent: title })),
    )
  })
  document.querySelector('form').onsubmit = (event) => {
    event.preventDefault()
    const { title } = Object.fromEntries(new FormData(event.target))
    void fetch('/tasks', { method: 'POST', body: JSON.stringify({ title }) })
  }
}
