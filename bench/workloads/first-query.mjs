// What is asked of a small database just opened; apart from the code that makes it, which would load a library.
import { expectSame } from './expect.mjs'

export const firstQuery = 'SELECT * FROM t7 WHERE name = ?'
export const firstParams = ['row 42 of t7']
export const checkFirst = (rows) =>
  expectSame('first query', JSON.stringify(rows), '[{"id":42,"name":"row 42 of t7","value":63}]')
