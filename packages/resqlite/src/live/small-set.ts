/**
 * A set that mostly has at most one member, and then is that member. Members are no sets themselves. They keep the order
 * in which they came.
 */
export type Few<T extends object> = undefined | T | Set<T>

export function sizeOf<T extends object>(few: Few<T>): number {
  if (few instanceof Set) return few.size
  return few === undefined ? 0 : 1
}

export function isAmong<T extends object>(few: Few<T>, member: T): boolean {
  return few instanceof Set ? few.has(member) : few === member
}

/** The set with a member more; it may be the same, changed. */
export function withMember<T extends object>(few: Few<T>, member: T): Few<T> {
  if (few instanceof Set) return few.add(member)
  return few === undefined || few === member ? member : new Set([few, member])
}

/** The set without a member; it may be the same, changed. */
export function withoutMember<T extends object>(few: Few<T>, member: T): Few<T> {
  if (few instanceof Set) few.delete(member)
  return few === member ? undefined : few
}

/** Visits those who are members now, except who has left by its turn. */
export function eachMember<T extends object>(few: Few<T>, visit: (member: T) => void): void {
  if (!(few instanceof Set)) {
    if (few !== undefined) visit(few)
    return
  }
  for (const member of [...few]) {
    if (few.has(member)) visit(member)
  }
}
