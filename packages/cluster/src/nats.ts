import { type Checks, checkNamed, refused } from 'resqlite/seam'
import { addresses, file, name, replicas, texts, time } from './checks'
import { type Log, settingsOf } from './log'

/** The location of a log on NATS JetStream. */
export interface NatsOptions {
  /** The addresses of the servers: `nats://host:4222`, `nats://user:password@host:4222`, `tls://host:4222`. */
  servers: readonly string[]
  /** The name of the cluster, with which its streams and subjects begin: 1 to 64 letters, digits, `-` and `_`. */
  stream: string
  /** The path of a file with the credentials of a user. Default: none. */
  credentials?: string | undefined
  /**
   * The number of servers that keep each entry: 1, 3 or 5. With 1, which is for trials, an entry is lost if its server is lost.
   * Default: 3.
   */
  replicas?: number | undefined
  /** The time in milliseconds after which a call fails. Default: 5000. */
  timeout?: number | undefined
  /**
   * Addresses of the servers with a user of the system account. With them, opening fails if a server does not sync each entry to
   * its disk (`sync_interval: always`). Other users cannot see this setting. Default: none.
   */
  system?: readonly string[] | undefined
}

const CHECKS: Checks = {
  servers: addresses,
  stream: name,
  credentials: file,
  replicas,
  timeout: time,
  system: texts,
} satisfies Record<keyof NatsOptions, unknown>

/**
 * A log on NATS JetStream. Nothing connects before {@link Cluster.open}.
 *
 * ```ts
 * const log = nats({ servers: ['nats://10.0.0.1', 'nats://10.0.0.2', 'nats://10.0.0.3'], stream: 'app' })
 * ```
 */
export function nats(options: NatsOptions): Log {
  checkNamed('nats', CHECKS, options ?? {})
  const { servers, stream } = options ?? {}
  if (servers === undefined || stream === undefined)
    throw refused('nats: the options servers and stream are needed')
  const settings = { ...options, kind: 'nats' as const }
  return { [settingsOf]: settings }
}
