// Checks that the JavaScript and TypeScript files import each other one way only. A list of the imports:
// npx depcruise packages/resqlite/src --output-type text (or mermaid)

export const source = 'packages/resqlite/src'

/** Each folder imports only from itself and those before it. The files beside the folders import from all. */
export const folders = ['core', 'wire', 'decode', 'channel', 'live']

/** What builds on the API, each for a subpath of the package. Nobody else imports it, so nobody pays who does not use it. */
const builders = `^${source}/builders/`

/** Server-sent events, on the live queries; what the browser loads, on nothing. Each has a subpath, too. */
const events = `^${source}/sse/`
const client = `^${source}/client/`

const anyOf = (folders) => `^${source}/(${folders.join('|')})/`

export default {
  forbidden: [
    {
      name: 'cycle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'unknown-folder',
      severity: 'error',
      from: { path: `^${source}/[^/]+/`, pathNot: [anyOf(folders), builders, events, client] },
      to: {},
    },
    {
      name: 'uses-builders',
      severity: 'error',
      from: { path: `^${source}/`, pathNot: builders },
      to: { path: builders },
    },
    {
      name: 'uses-events',
      severity: 'error',
      from: { path: `^${source}/`, pathNot: events },
      to: { path: events },
    },
    {
      name: 'client-uses-the-rest',
      severity: 'error',
      from: { path: client },
      to: { pathNot: client },
    },
    {
      name: 'uses-client',
      severity: 'error',
      from: { path: `^${source}/`, pathNot: client },
      to: { path: client },
    },
    ...folders.map((folder, index) => ({
      name: `${folder}-uses-later-folder`,
      severity: 'error',
      from: { path: anyOf([folder]) },
      to: { path: `^${source}/`, pathNot: anyOf(folders.slice(0, index + 1)) },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Imports of types count too.
    tsPreCompilationDeps: true,
  },
}
