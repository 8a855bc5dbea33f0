// What a live workload hands back: figures by name, each with its values, mostly one per round.

/**
 * `better`: 'lower', 'higher' or 'none', which says that neither is. What has no usual direction must be given one.
 */
const figure =
  (kind, usual) =>
  (title, values, { better = usual } = {}) => {
    if (!['lower', 'higher', 'none'].includes(better)) throw new Error(`${title}: what is better?`)
    return { kind, better, title, values: Array.isArray(values) ? values : [values] }
  }

/** Milliseconds. */
export const time = figure('time', 'lower')
/** Times as much. */
export const times = figure('times')
export const count = figure('count', 'none')
/** Calls per second. */
export const rate = figure('rate', 'higher')
export const bytes = figure('bytes', 'lower')
