// The subpath `resqlite/sse`.
export type { SSEEventsOptions, SSEOptions } from './options'
export { sendSSE } from './send-sse'
export { type SSEEvent, sseEvents } from './sse-events'
export { sseResponse } from './sse-response'
