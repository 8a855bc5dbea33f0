// The subpath `resqlite/sse` for ES modules.
export type { SSEEventsOptions, SSEOptions } from './options.js'
export { sendSSE } from './send-sse.js'
export { type SSEEvent, sseEvents } from './sse-events.js'
export { sseResponse } from './sse-response.js'
