/** Limits of server-sent events. */

/** Default of the option `heartbeat`, in milliseconds. Proxies end connections that are idle for 30 to 60 seconds. */
export const HEARTBEAT_MILLISECONDS = 15_000

/** Heartbeats in a row during which a client may take nothing of what it was sent, before it is disconnected. */
export const MAX_MISSED_HEARTBEATS = 8

/** Default of the option `maxClients`. */
export const MAX_CLIENTS = 10_000

/** Default of the option `maxBytes`. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024

/** Patches that a hub keeps for clients that come back: about as many bytes as the whole result takes, within these bounds. */
export const MIN_HISTORY_BYTES = 4 * 1024
export const MAX_HISTORY_BYTES = 1024 * 1024

/** The size in bytes of the pieces in which events are sent. */
export const PIECE_BYTES = 64 * 1024

/** The number of bytes that a stream of the Fetch API holds before its client counts as busy. */
export const STREAM_BYTES = 64 * 1024

/**
 * Clients that are served in one turn of the event loop. Node.js passes the bytes written to a response to the system only
 * after the turn, which takes some microseconds for each client.
 */
export const CLIENTS_PER_TURN = 128

/**
 * After a round in which all clients were served, a hub rests for this many times as long as the round took. So events take
 * at most a tenth of the time of the event loop.
 */
export const REST_PER_ROUND = 9

/** The longest rest, so that clients of a crowded hub see changes without much delay. */
export const MAX_REST_MILLISECONDS = 200
