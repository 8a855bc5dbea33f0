import { StrictMode, startTransition, useEffect, useOptimistic, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { remoteQuery } from 'resqlite/client'
import { useLiveQuery } from 'resqlite/react'

const tasks = remoteQuery('/tasks')

function Page() {
  const { data, state } = useLiveQuery(tasks)
  const [shown, change] = useOptimistic(data ?? [], changed)
  const [problem, setProblem] = useState('')
  const [title, setTitle] = useState('')

  // A change is shown at once, and taken back if the server refuses it.
  const write = (method, task) =>
    startTransition(async () => {
      change({ method, task })
      const problem = await send(method, task).then(contained, ({ message }) => message)
      setProblem(problem)
      // A title that was not saved comes back, unless somebody has typed another one meanwhile.
      if (problem && method === 'POST') setTitle((typed) => typed || task.title)
    })
  const add = (event) => {
    event.preventDefault()
    setTitle('')
    write('POST', { id: crypto.randomUUID(), title, done: 0 })
  }
  useEffect(() => {
    if (state === 'live') setProblem('')
  }, [state])

  return (
    <main>
      <h1>Tasks</h1>
      <ul>
        {shown.map((task) => (
          <li key={task.id}>
            <label>
              <input
                type="checkbox"
                checked={task.done === 1}
                onChange={() => write('PUT', { ...task, done: 1 - task.done })}
              />
              {task.title}
            </label>
            <button type="button" onClick={() => write('DELETE', task)}>
              Delete
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={add}>
        <input
          value={title}
          onChange={(event) => setTitle(event.target.value)}
          placeholder="A task"
          autoComplete="off"
          required
        />
        <button type="submit">Add</button>
      </form>
      <p role="alert">{problem}</p>
      <p role="status">{state}</p>
    </main>
  )
}

/** The rows with a change that the server has not sent yet, or just has. */
function changed(rows, { method, task }) {
  const others = rows.filter(({ id }) => id !== task.id)
  if (method === 'DELETE') return others
  return others.length === rows.length
    ? [...rows, task]
    : rows.map((row) => (row.id === task.id ? task : row))
}

/** Resolves to the number of the commit. */
async function send(method, task) {
  const response = await fetch('/tasks', { method, body: JSON.stringify(task) }).catch(() => {
    throw new Error('The server cannot be reached. Nothing was saved.')
  })
  const { commit, error } = await response.json()
  if (!response.ok) throw new Error(error)
  return commit
}

/** Resolves when the list contains a commit. Some change nothing in it: after two seconds in any case. */
function contained(commit) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, 2000)
    const stop = tasks.subscribe(() => tasks.state === 'live' && tasks.commit >= commit && done())
    function done() {
      clearTimeout(timer)
      stop()
      resolve('')
    }
  })
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <Page />
  </StrictMode>,
)
