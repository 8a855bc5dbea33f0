/** What is needed of a port: a `MessagePort` of browsers or of Node.js, or a `MessagePortMain` of Electron. */
export interface Port {
  postMessage(message: unknown): void
  start?(): void
  addEventListener?(type: 'message' | 'close', listener: (event: object) => void): void
  on?(type: 'message' | 'close', listener: (event: object) => void): unknown
}

/** What a page asks for. `id` tells its requests apart. */
export type PortRequest =
  | { readonly id: number; readonly ask: 'open'; readonly url: string; readonly headers: [string, string][] }
  /** For the next part of the body, if there is one, or else as soon as there is. */
  | { readonly id: number; readonly ask: 'more' }
  | { readonly id: number; readonly ask: 'end' }

/** What it gets. */
export type PortReply =
  | { readonly id: number; readonly status: number; readonly headers: [string, string][] }
  | { readonly id: number; readonly bytes: Uint8Array }
  | { readonly id: number; readonly end: true }
  /** The body has failed: what came of it is not all. */
  | { readonly id: number; readonly broken: true }

/**
 * Calls `heard` with each message that belongs to a request, whatever else is wrong with it, and ignores others. What the
 * other end sends may be anything.
 */
export function listen<M extends { id: number }>(
  port: Port,
  heard: (message: M) => void,
  closed: () => void,
): void {
  const message = (event: object) => {
    const data = (event as { data?: Partial<M> | null } | null)?.data
    if (typeof data?.id === 'number') heard(data as M)
  }
  if (port.addEventListener !== undefined) {
    port.addEventListener('message', message)
    port.addEventListener('close', closed)
  } else {
    port.on?.('message', message)
    port.on?.('close', closed)
  }
  port.start?.()
}
