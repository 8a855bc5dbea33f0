import { useEffect, useState } from 'preact/hooks'

/** A view, with the names of a table if it shows one. The address has it after the `#`. */
export type Route =
  | { readonly view: 'table'; readonly schema: string; readonly table: string }
  | { readonly view: 'sql' | 'live' | 'engine' | 'statements' | 'start' }

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const changed = () => setHash(location.hash)
    addEventListener('hashchange', changed)
    // It may have changed since the first picture.
    changed()
    return () => removeEventListener('hashchange', changed)
  }, [])
  return parse(hash)
}

/** The route of the present address, which may be newer than the view. */
export function currentRoute(): Route {
  return parse(location.hash)
}

export function addressOf(route: Route): string {
  if (route.view !== 'table') return `#/${route.view}`
  return `#/table/${encodeURIComponent(route.schema)}/${encodeURIComponent(route.table)}`
}

function parse(hash: string): Route {
  const [, view = '', schema, table] = hash.split('/')
  if (view === 'table' && schema !== undefined && table !== undefined) {
    return { view, schema: decoded(schema), table: decoded(table) }
  }
  return view === 'sql' || view === 'live' || view === 'engine' || view === 'statements'
    ? { view }
    : { view: 'start' }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
