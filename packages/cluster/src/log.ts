/** The key under which a log says where it is. */
export const settingsOf: unique symbol = Symbol('settings')

/** A log on which a node of a cluster is: what `nats`, `etcd` and `memory` return. */
export interface Log {
  /** @internal The settings that the native side gets. */
  readonly [settingsOf]: LogSettings
}

/** @internal */
export interface LogSettings {
  readonly kind: 'memory' | 'nats' | 'etcd'
}

/** Returns whether a value is a log. */
export function isLog(value: unknown): value is Log {
  return typeof value === 'object' && value !== null && settingsOf in value
}
