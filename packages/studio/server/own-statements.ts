/** At the beginning of every statement of the studio's own, so that it is not listed among those of the program. */
export const MARK = '/* @resqlite/studio */ '
