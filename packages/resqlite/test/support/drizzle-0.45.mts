// Lets what is imported after this module import Drizzle 0.45 in place of the release that is installed by its own name.

import { register } from 'node:module'

const hooks = `
  export const resolve = (specifier, context, next) =>
    next(specifier.replace(/^drizzle-orm(?=\\/|$)/, 'drizzle-orm-0.45'), context)
`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
