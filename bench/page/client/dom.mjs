// Elements. Text only ever becomes text: nothing that was measured is read as HTML.

/** A new element. Attributes that are undefined or false, and children that are missing, are left out. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value)
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== false))
  return element
}

/** A name that can stand in an address. */
export const slug = (name) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

/**
 * A table in a box of its own that scrolls when it is too wide. `head`: titles, those that end in `|` are of numbers;
 * `rows`: arrays of text or elements.
 */
export function dataTable(label, head, rows, attributes = {}) {
  const numeric = head.map((title) => title.endsWith('|'))
  const className = (column) => (numeric[column] ? 'number' : undefined)
  const titles = head.map((title, column) =>
    el('th', { scope: 'col', class: className(column) }, title.replace(/\|$/, '')),
  )
  const lines = rows.map((row) =>
    el(
      'tr',
      {},
      row.map((cell, column) =>
        column === 0 ? el('th', { scope: 'row' }, cell) : el('td', { class: className(column) }, cell ?? '–'),
      ),
    ),
  )
  return el(
    'div',
    { class: 'box', role: 'region', 'aria-label': label, tabindex: '0' },
    el('table', attributes, el('thead', {}, el('tr', {}, titles)), el('tbody', {}, lines)),
  )
}

export const section = (id, title, ...children) =>
  el('section', { id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), children)

/** “low – high”, or “–” where there was but one number. */
export const rangeText = (write, { low, high }, count) => (count > 1 ? `${write(low)} – ${write(high)}` : '–')

export const plural = (count, one, many = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** A bound or a tick, which was chosen and not measured: `1.50 ms` → `1.5 ms`; zero has no unit. */
export const roundText = (write) => (value) =>
  value === 0
    ? '0'
    : write(value)
        .replace(/(\.\d*?)0+(?= |$)/, '$1')
        .replace(/\.(?= |$)/, '')
