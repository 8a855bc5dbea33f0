/**
 * A set that mostly has at most one member. A set with one member is that member itself. A live query has two such sets, and
 * as instances of `Set` they would add 300 bytes to the 2 KiB that it takes (experiment 017). Members must not be sets
 * themselves, and keep the order in which they were added.
 */
export type SmallSet<T extends object> = undefined | T | Set<T>

export function sizeOf<T extends object>(set: SmallSet<T>): number {
  if (set instanceof Set) return set.size
  return set === undefined ? 0 : 1
}

export function hasMember<T extends object>(set: SmallSet<T>, member: T): boolean {
  return set instanceof Set ? set.has(member) : set === member
}

/** Returns the set with one more member. It may be the same set, modified. */
export function withMember<T extends object>(set: SmallSet<T>, member: T): SmallSet<T> {
  if (set instanceof Set) return set.add(member)
  return set === undefined || set === member ? member : new Set([set, member])
}

/** Returns the set without a member. It may be the same set, modified. */
export function withoutMember<T extends object>(set: SmallSet<T>, member: T): SmallSet<T> {
  if (set instanceof Set) set.delete(member)
  return set === member ? undefined : set
}

/** Calls `visit` for all present members, except those that are removed before their turn. */
export function forEachMember<T extends object>(set: SmallSet<T>, visit: (member: T) => void): void {
  if (!(set instanceof Set)) {
    if (set !== undefined) visit(set)
    return
  }
  for (const member of [...set]) {
    if (set.has(member)) visit(member)
  }
}
