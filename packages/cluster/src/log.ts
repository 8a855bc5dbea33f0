/** The key of a log under which its settings are. */
export const settingsOf: unique symbol = Symbol('settings')

/** The log of a cluster, which its nodes use. `nats`, `etcd` and `memory` return one. */
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
