// Compiled, never run: checks the declared types of the subpaths for frameworks.

import { createCollection } from '@tanstack/db'
import { type Database, type LiveQuery, sql } from 'resqlite'
import { type RemoteRow, remoteQuery } from 'resqlite/client'
import { type LiveResult, type LoadedResult, useLiveQuery, useLiveQuerySuspense } from 'resqlite/react'
import { createLiveQuery } from 'resqlite/solid'
import { sseEvents } from 'resqlite/sse'
import { liveQuery } from 'resqlite/svelte'
import { liveCollectionOptions } from 'resqlite/tanstack-db'
import { useLiveQuery as useLiveQueryOfVue } from 'resqlite/vue'
import type { ComputedRef } from 'vue'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only if the two types are the same. */
function same<A, B>(_: Same<A, B>): void {}

interface Task {
  id: number
  title: string
}

declare const db: Database
const live = db.stream<Task>('SELECT id, title FROM tasks')
const remote = remoteQuery<Task>('/tasks')

const dated = (_list: number) =>
  db.stream<{ id: bigint; at: Date | null; photo?: Buffer; tags: string[] }>('SELECT 1')
same<RemoteRow<typeof live>, Task>(true)
same<RemoteRow<typeof dated>, { id: number; at: string | null; photo?: string; tags: string[] }>(true)
same<RemoteRow<LiveQuery<number>>, never>(true)

export function sendTypes() {
  sseEvents(live, { key: ['id', 'title'] })
  // @ts-expect-error: there is no such column
  sseEvents(live, { key: 'nmae' })
}

export function useTypes() {
  const shown = useLiveQuery(live)
  same<typeof shown, LiveResult<Task[]>>(true)
  const remotely = useLiveQuery(remote)
  same<typeof remotely, LiveResult<readonly Task[]>>(true)
  const waited = useLiveQuerySuspense(live)
  same<typeof waited, LoadedResult<Task[]>>(true)
  const several = useLiveQuery(
    db.stream({ tasks: sql<Task>`SELECT id, title FROM tasks`, lists: sql`SELECT * FROM lists` }),
  )
  same<NonNullable<typeof several.data>['tasks'], Task[]>(true)
  // @ts-expect-error: a source is needed
  useLiveQuery('SELECT 1')
  // @ts-expect-error: there may be no data yet
  shown.data.length
  // @ts-expect-error: the rows of a remote query are shared
  remotely.data?.push({ id: 1, title: 'a' })
}

type OfVue<V> = ReturnType<typeof useLiveQueryOfVue<V>>['data']
same<OfVue<Task[]>, ComputedRef<Task[] | undefined>>(true)
const setup = [() => useLiveQueryOfVue(() => live), () => useLiveQueryOfVue(remote)] as const
same<ReturnType<(typeof setup)[0]>['data'], OfVue<Task[]>>(true)
same<ReturnType<(typeof setup)[1]>['data'], OfVue<readonly Task[]>>(true)

liveQuery(live).subscribe(({ data }) => same<typeof data, Task[] | undefined>(true))

const solid = createLiveQuery(() => remote)
same<ReturnType<typeof solid>, LiveResult<readonly Task[]>>(true)

export const collection = createCollection(
  liveCollectionOptions({
    source: live,
    key: 'id',
    onInsert: () => db.execute('INSERT INTO tasks DEFAULT VALUES'),
  }),
)
same<NonNullable<ReturnType<typeof collection.get>>['title'], string>(true)
void collection.utils.awaitCommit(1)
createCollection(liveCollectionOptions({ source: remote, key: ['id', 'title'], onDelete: async () => 17 }))
// @ts-expect-error: there is no such column
liveCollectionOptions({ source: live, key: 'none' })
