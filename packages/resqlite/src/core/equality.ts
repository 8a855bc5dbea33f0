/**
 * The name of the property by which live queries are compared. Its value is a list of values, which are compared one by one.
 * The symbol is registered, because `resqlite/react` and similar modules use it but contain nothing of this module.
 */
export const equality: unique symbol = Symbol.for('resqlite.equality') as never
