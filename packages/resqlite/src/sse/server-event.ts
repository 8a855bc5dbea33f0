import { randomBytes } from 'node:crypto'
import type { Bytes } from '../core/types'

/** The names of the events. None is called `error`, because an `EventSource` has its own event of that name. */
export type ServerEventName = 'full' | 'patch' | 'failed' | 'closed'

/** One server-sent event, encoded once for all clients that get it. */
export class ServerEvent {
  readonly name: ServerEventName
  /** The id with which a client that got the event comes back. */
  readonly id: string | undefined
  /** The whole event as it is sent. */
  readonly bytes: Bytes
  readonly #head: number

  constructor(name: ServerEventName, id: string | undefined, data: Bytes) {
    const head = Buffer.from(`event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: `)
    this.name = name
    this.id = id
    this.bytes = Buffer.concat([head, data, END])
    this.#head = head.length
  }

  /** The JSON text. */
  get data(): string {
    const { buffer, byteOffset, length } = this.bytes
    return Buffer.from(buffer, byteOffset + this.#head, length - this.#head - END.length).toString()
  }
}

const END = Buffer.from('\n\n')

/** A comment. Clients skip it, but it shows clients and proxies that the connection is alive. */
export const HEARTBEAT: Bytes = Buffer.from(':\n\n')

/**
 * Returns a field that tells an `EventSource` how long to wait before it comes back. The time differs for each client, so
 * that they do not all come at once.
 */
export function retryField(): Bytes {
  return Buffer.from(`retry: ${1000 + Math.floor(2000 * Math.random())}\n\n`)
}

/** Returns the event for a failure of the queries. It contains only the code, because a message could name tables. */
export function failedEvent(error: unknown): ServerEvent {
  return new ServerEvent('failed', undefined, codeOf(error))
}

/** Returns the event for the end of the live query. No more events follow. */
export function closedEvent(error: unknown): ServerEvent {
  return new ServerEvent('closed', undefined, codeOf(error))
}

function codeOf(error: unknown): Bytes {
  const { code = 'RESQLITE_RESULT' } = error as { code?: string }
  return Buffer.from(JSON.stringify({ code }))
}

/**
 * Versions mean nothing outside of the process and thread that gave them, so ids begin with a name of the process and thread.
 */
const REALM = randomBytes(6).toString('base64url')

export function idOf(version: number): string {
  return `${REALM}.${version}`
}

/** Returns the version in an id from a client; undefined if this process and thread did not give that id. */
export function versionOf(id: string | undefined): number | undefined {
  const [, realm, version] = /^([\w-]{8})\.(\d{1,15})$/.exec(id ?? '') ?? []
  return realm === REALM ? Number(version) : undefined
}
