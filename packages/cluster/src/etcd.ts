import { type Checks, checkNamed, refused } from 'resqlite/seam'
import { addresses, bytes, file, name, time } from './checks'
import { type Log, settingsOf } from './log'

/** The location of a log on etcd. */
export interface EtcdOptions {
  /** The addresses of the servers: `http://host:2379` or `https://host:2379`. */
  endpoints: readonly string[]
  /** The name of the cluster, with which its keys begin: 1 to 64 letters, digits, `-` and `_`. */
  prefix: string
  /** The path of a file with the certificate of the authority of the servers, if the system does not know it. */
  authority?: string | undefined
  /** The paths of files with the certificate of this node and its key, if the servers ask for one. Default: none. */
  identity?: { certificate: string; key: string } | undefined
  /** The time in milliseconds after which a call fails. Default: 5000. */
  timeout?: number | undefined
  /**
   * The number of bytes that one request can carry. A larger entry is sent in parts. At least 524,288; the servers must allow a
   * little more (`--max-request-bytes`). Default: 1,500,000.
   */
  limit?: number | undefined
}

const CHECKS: Checks = {
  endpoints: addresses,
  prefix: name,
  authority: file,
  identity: (value: unknown) => {
    const { certificate, key } = (value ?? {}) as Record<string, unknown>
    return (file(certificate) ?? file(key))
      ? 'an object like { certificate, key } with the paths of files'
      : undefined
  },
  timeout: time,
  limit: bytes,
} satisfies Record<keyof EtcdOptions, unknown>

/**
 * A log on etcd. Nothing connects before {@link Cluster.open}.
 *
 * ```ts
 * const log = etcd({ endpoints: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379', 'http://10.0.0.3:2379'], prefix: 'app' })
 * ```
 */
export function etcd(options: EtcdOptions): Log {
  checkNamed('etcd', CHECKS, options ?? {})
  const { endpoints, prefix, identity, ...others } = options ?? {}
  if (endpoints === undefined || prefix === undefined)
    throw refused('etcd: the options endpoints and prefix are needed')
  const settings = { ...others, endpoints, prefix, ...identity, kind: 'etcd' as const }
  return { [settingsOf]: settings }
}
