'use client'
import { remoteQuery } from 'resqlite/client'
import { useLiveQuery } from 'resqlite/react'

export function Tasks() {
  const { data, state } = useLiveQuery(remoteQuery<{ id: number; title: string }>('/events'))
  if (data === undefined) return <p>{state}</p>
  return (
    <ul>
      {data.map(({ id, title }) => (
        <li key={id}>{title}</li>
      ))}
    </ul>
  )
}
