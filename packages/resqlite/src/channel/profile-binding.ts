import type { RowPatch } from '../live/patches'
import type { NativeBinding } from '../wire/native'

/** What the native module exports besides, if it was built with the feature `profile`. */
export interface ProfileBinding extends NativeBinding {
  /** Calls a function and counts its time as that of handling replies, if it says that there were any. */
  profileTurn(handler: () => boolean): void
  /** Counts an emission whose subscribers took so many milliseconds. */
  profileEmission(milliseconds: number): void
  /** The counters of the process by name, as JSON. */
  profileSnapshot(): string
  /** Sets the counters of the process to 0. */
  profileReset(): void
}

/** The native module as one that counts; undefined if it does not. */
export function profileBinding(binding: NativeBinding): ProfileBinding | undefined {
  return 'profileSnapshot' in binding ? (binding as ProfileBinding) : undefined
}

/** What the native side is to call instead of `handler`; that itself where nothing is counted. */
export function countedTurn(binding: NativeBinding, handler: () => boolean): () => void {
  const counting = profileBinding(binding)
  return counting === undefined ? handler : () => counting.profileTurn(handler)
}

/** Streams that tell those who use them of new results. */
interface Emitter {
  tellEmitted(patches: readonly RowPatch[]): void
}

/** Puts a method that counts in the place of `tellEmitted`; does nothing where nothing is counted. */
export function countEmissions(binding: NativeBinding, prototype: Emitter): void {
  const counting = profileBinding(binding)
  if (counting === undefined) return
  const { tellEmitted } = prototype
  prototype.tellEmitted = function (patches) {
    const started = performance.now()
    tellEmitted.call(this, patches)
    counting.profileEmission(performance.now() - started)
  }
}
