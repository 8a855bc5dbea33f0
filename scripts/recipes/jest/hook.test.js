/** @jest-environment jsdom */
const { act, createElement } = require('react')
const { createRoot } = require('react-dom/client')
const { remoteQuery } = require('resqlite/client')
const { useLiveQuery } = require('resqlite/react')

globalThis.IS_REACT_ACT_ENVIRONMENT = true

test('a component shows what a remote query has', async () => {
  const ended = async () => ({ ok: false, status: 404, headers: new Map(), text: async () => 'no such list' })
  const Tasks = () => createElement('p', null, useLiveQuery(remoteQuery('/tasks', { fetch: ended })).state)
  const element = document.createElement('div')
  const root = createRoot(element)
  await act(async () => root.render(createElement(Tasks)))
  expect(element.textContent).toMatch(/connecting|error/)
  await act(async () => root.unmount())
})
