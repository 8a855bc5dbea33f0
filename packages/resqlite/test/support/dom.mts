import { JSDOM } from 'jsdom'

// A page for the libraries that look for one when they are loaded: import this file before them.

const { window } = new JSDOM('<!doctype html><html><body></body></html>', {
  url: 'http://page.test/',
  pretendToBeVisual: true,
})

/** What a page has and Node.js has as well, but not in a form that goes together with the elements. */
const OWN = ['Event', 'CustomEvent', 'EventTarget', 'navigator']

for (const name of Object.getOwnPropertyNames(window)) {
  if (name in globalThis && !OWN.includes(name)) continue
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get: () => window[name],
    set: (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true }),
  })
}
