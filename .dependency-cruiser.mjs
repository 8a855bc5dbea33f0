// Checks that the JavaScript and TypeScript files import each other one way only. A list of the imports:
// npx depcruise packages/resqlite/src packages/cli/src --output-type text (or mermaid)

export const source = 'packages/resqlite/src'

/** Each folder imports only from itself and those before it. The files beside the folders import from all. */
export const folders = ['core', 'wire', 'decode', 'channel', 'live', 'statements', 'transactions', 'commits']

/** The same for the command line. */
export const cliSource = 'packages/cli/src'
export const cliFolders = ['core', 'terminal', 'formats', 'input', 'watch', 'commands']

/** What builds on the API, each for a subpath of the package. Nobody else imports it, so nobody pays who does not use it. */
const builders = `^${source}/builders/`

/** Server-sent events, on the live queries, and metrics: one more subpath each. */
const extras = ['sse', 'metrics']

/** What browsers load, for further subpaths: each contains nothing of the rest. */
const browser = ['client', 'frameworks', 'message-port']

const anyOf = (folders, inside = source) => `^${inside}/(${folders.join('|')})/`

/** Rules by which each folder imports only from itself and those before it. */
function inOrder(folders, inside) {
  return folders.map((folder, index) => ({
    name: `${folder}-uses-later-folder`,
    severity: 'error',
    from: { path: anyOf([folder], inside) },
    to: { path: `^${inside}/`, pathNot: anyOf(folders.slice(0, index + 1), inside) },
  }))
}

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
      from: { path: `^${source}/[^/]+/`, pathNot: [anyOf([...folders, ...browser, ...extras]), builders] },
      to: {},
    },
    {
      name: 'uses-builders',
      severity: 'error',
      from: { path: `^${source}/`, pathNot: builders },
      to: { path: builders },
    },
    ...extras.map((folder) => ({
      name: `uses-${folder}`,
      severity: 'error',
      from: { path: `^${source}/`, pathNot: anyOf([folder]) },
      to: { path: anyOf([folder]) },
    })),
    ...browser.flatMap((folder) => [
      {
        name: `${folder}-uses-the-rest`,
        severity: 'error',
        from: { path: anyOf([folder]) },
        // Types are gone when it is compiled.
        to: {
          pathNot: [anyOf([folder]), ...(folder === 'frameworks' ? ['node_modules/'] : [])],
          dependencyTypesNot: ['type-only'],
        },
      },
      {
        name: `uses-${folder}`,
        severity: 'error',
        from: { path: `^${source}/`, pathNot: anyOf([folder]) },
        to: { path: anyOf([folder]), dependencyTypesNot: ['type-only'] },
      },
    ]),
    {
      name: 'uses-clusters',
      comment: 'The loader names the native module of clusters, which it takes where it is installed.',
      severity: 'error',
      from: { path: `^${source}/`, pathNot: '/wire/native\\.ts$' },
      to: { path: '^packages/cluster/' },
    },
    {
      name: 'cluster-uses-more-than-the-seam',
      severity: 'error',
      from: { path: '^packages/cluster/src/' },
      to: { path: '^packages/resqlite/', pathNot: '^packages/resqlite/dist/(index|seam|metrics/index)\\.' },
    },
    {
      name: 'sqlite3-uses-more-than-the-api',
      severity: 'error',
      from: { path: '^packages/sqlite3/src/' },
      to: { path: '^packages/resqlite/', pathNot: '^packages/resqlite/dist/(index|builders/adapter)\\.' },
    },
    {
      name: 'page-uses-server',
      severity: 'error',
      from: { path: '^packages/studio/page/' },
      to: { path: '^packages/studio/server/' },
    },
    {
      name: 'server-uses-page',
      severity: 'error',
      from: { path: '^packages/studio/server/' },
      to: { path: '^packages/studio/page/' },
    },
    ...inOrder(folders, source),
    {
      name: 'unknown-folder',
      severity: 'error',
      from: { path: `^${cliSource}/[^/]+/`, pathNot: anyOf(cliFolders, cliSource) },
      to: {},
    },
    ...inOrder(cliFolders, cliSource),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Imports of types count too.
    tsPreCompilationDeps: true,
  },
}
