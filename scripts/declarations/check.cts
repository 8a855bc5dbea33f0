// Compiles only if what the native module declares of itself (generated from the Rust code) and what the
// TypeScript code takes it to be (written by hand) are the same.

import type * as Generated from '../../packages/resqlite/native/generated.js'
import type { ProfileBinding } from '../../packages/resqlite/src/channel/profile-binding.js'
import type { NativeBinding, NativePort } from '../../packages/resqlite/src/wire/native.js'

type Exports = typeof Generated
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** A module that is built for tests has counters, one that is published has none. */
type Binding = Exports extends { profileSnapshot: unknown } ? ProfileBinding : NativeBinding

/** Nothing is missing and nothing is extra. */
export const exportsAreTheSame: Same<keyof Exports, keyof Binding> = true
export const methodsAreTheSame: Same<keyof Generated.Port, keyof NativePort> = true

/** Every export can be used as the code uses it. */
export const usable = (generated: Exports): Binding => generated
