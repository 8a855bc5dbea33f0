import { createRoot } from 'react-dom/client'
import { remoteQuery } from 'resqlite/client'
import { useLiveQuery } from 'resqlite/react'

function Tasks() {
  const { data = [], state } = useLiveQuery(remoteQuery('/events'))
  return (
    <form action={add}>
      <ul>
        {data.map(({ id, title }) => (
          <li key={id}>{title}</li>
        ))}
      </ul>
      <input name="title" required /> <button type="submit">Add</button> {state}
    </form>
  )
}

async function add(form) {
  const headers = { 'content-type': 'application/json' }
  await fetch('/tasks', { method: 'POST', headers, body: JSON.stringify({ title: form.get('title') }) })
}

createRoot(document.getElementById('root')).render(<Tasks />)
