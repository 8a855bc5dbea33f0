/**
 * The name under which a live query says what makes it equal to others: a list of values, compared one by one. Registered,
 * because `resqlite/react` and its like ask for it, which contain nothing of this module.
 */
export const equality: unique symbol = Symbol.for('resqlite.equality') as never
