/** Quotes a name for SQL. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** At the beginning of every statement of the studio's own, so that it is not listed among those of the program. */
export const MARK = '/* @resqlite/studio */ '
