import { type RemoteQuery, remoteQuery } from 'resqlite/client'
import type { Cell } from '../cells/cell.ts'

/** Why a request failed. `offset` is where in the SQL, `index` which of several edits. */
export interface Problem {
  /** The values of a row that were changed since they were shown, by column. */
  readonly conflicts?: Readonly<Record<string, { readonly old: Cell; readonly now: Cell }>>
  readonly message: string
  readonly code?: string
  readonly offset?: number
  readonly index?: number
}

const KEPT = 'resqlite-studio-token'

/** The token comes behind the `#` of the address, which is never sent. It is kept for this tab, and taken out of the address. */
export function takeToken(): void {
  const [, given] = /^#([\w-]{16,})$/.exec(location.hash) ?? []
  if (given === undefined) return
  sessionStorage.setItem(KEPT, given)
  history.replaceState(null, '', `${location.pathname}#/`)
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEPT, token)
}

function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(KEPT)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

/** Asks the studio. Throws a {@link Problem}. */
export async function ask<T>(path: string, body: object = {}, signal?: AbortSignal): Promise<T> {
  const headers = { 'content-type': 'application/json', ...authorization() }
  const response = await fetch(`api/${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal })
  const answer: unknown = await response.json()
  if (response.ok) return answer as T
  throw { code: `HTTP_${response.status}`, ...(answer as Problem) } satisfies Problem
}

/** The message for anything that was thrown. */
export function problemOf(error: unknown): Problem {
  if (error instanceof TypeError) return { message: 'The studio does not answer. Has it been closed?' }
  return error as Problem
}

/** A live query of the studio. */
export function live<T>(path: string, params: [string, string][]): RemoteQuery<T> {
  return remoteQuery<T>(`live/${path}?${new URLSearchParams(params)}`, {
    headers: authorization,
    minDelay: 250,
    maxDelay: 3000,
  })
}
