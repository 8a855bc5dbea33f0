/** A set that mostly has one member, which costs no hash table then. Members keep the order in which they came. */
export class Few<T extends object> {
  #only: T | undefined
  #several: Set<T> | undefined

  get size(): number {
    return this.#several?.size ?? (this.#only === undefined ? 0 : 1)
  }

  has(member: T): boolean {
    return this.#several?.has(member) ?? this.#only === member
  }

  add(member: T): void {
    if (this.#several !== undefined) this.#several.add(member)
    else if (this.#only === undefined) this.#only = member
    else if (this.#only !== member) {
      this.#several = new Set([this.#only, member])
      this.#only = undefined
    }
  }

  /** Whether it was a member. */
  delete(member: T): boolean {
    if (this.#several !== undefined) return this.#several.delete(member)
    if (this.#only !== member) return false
    this.#only = undefined
    return true
  }

  /** Visits those who are members now, except who has left by its turn. */
  each(visit: (member: T) => void): void {
    if (this.#several === undefined) {
      if (this.#only !== undefined) visit(this.#only)
      return
    }
    for (const member of [...this.#several]) {
      if (this.has(member)) visit(member)
    }
  }
}
