import type { NativeBinding } from '../wire/native'

/** The exports of a native module that was built with the feature `profile`. */
export interface ProfileBinding extends NativeBinding {
  /** Calls a function that handles replies, and counts its time if it returns that there were replies. */
  profileTurn(handler: () => boolean): void
  /** Counts an emission whose subscribers took this number of milliseconds. */
  profileEmission(milliseconds: number): void
  /** Returns the counters of the process by name, as JSON. */
  profileSnapshot(): string
  /** Sets the counters of the process to 0. */
  profileReset(): void
}

/** Returns the native module as one with counters, or undefined if it has none. */
export function profileBinding(binding: NativeBinding): ProfileBinding | undefined {
  return 'profileSnapshot' in binding ? (binding as ProfileBinding) : undefined
}
