// Takes the place of Prisma's `_utils/setupTestSuiteEnv.ts`: makes databases for the tests with Prisma's schema engine, on the
// driver under test.

const { randomUUID } = require('node:crypto')
const { readFileSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const { bindMigrationAwareSqlAdapterFactory } = require('@prisma/driver-adapter-utils')
const engine = require('@prisma/schema-engine-wasm/schema_engine_bg')
const { PrismaBetterSqlite3 } = require('@prisma/adapter-better-sqlite3')
const { getTestSuiteCliMeta, getTestSuiteSchema } = require('./getTestSuiteInfo')

const none = { externalTables: [], externalEnums: [] }

exports.setupTestSuiteDbURI = () => {
  const file = join(process.env.PRISMA_DATABASES, `${randomUUID()}.db`)
  return {
    directEnvVarName: 'DIRECT_DATABASE_URI_sqlite',
    envVarName: 'DATABASE_URI_sqlite',
    databaseUrl: `file:${file}`,
    accelerateUrl: undefined,
  }
}

exports.driverAdapter = ({ databaseUrl }) =>
  new PrismaBetterSqlite3({ url: databaseUrl.replace('file:', '') })

/** `prisma db push`. */
exports.setupTestSuiteDatabase = async ({
  suiteMeta,
  suiteConfig,
  datasourceInfo,
  alterStatementCallback,
}) => {
  const { matrixOptions } = suiteConfig
  const content = getTestSuiteSchema({ cliMeta: getTestSuiteCliMeta(), suiteMeta, matrixOptions })
  const adapter = exports.driverAdapter(datasourceInfo)
  const connections = []
  const connect = async () => {
    const connection = await adapter.connect()
    connections.push(connection)
    return connection
  }
  const { provider, adapterName } = adapter
  const factory = { provider, adapterName, connect, connectToShadowDb: connect }
  const SchemaEngine = await loadEngine()
  const schema = await SchemaEngine.new(
    { datamodels: [['schema.prisma', content]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  )
  try {
    const files = [{ path: 'schema.prisma', content }]
    await schema.schemaPush({ force: true, schema: { files }, filters: none })
    const script = alterStatementCallback?.(matrixOptions.provider)
    if (script) await (await connect()).executeScript(script)
  } finally {
    schema.free()
    for (const connection of connections) await connection.dispose()
  }
}

exports.dropTestSuiteDatabase = async ({ datasourceInfo }) => {
  const file = datasourceInfo.databaseUrl.replace('file:', '')
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true })
}

let loaded
function loadEngine() {
  loaded ??= load()
  return loaded
}

async function load() {
  const imports = Object.fromEntries(Object.entries(engine).map(withoutWaiting))
  const file = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace('.js', '.wasm')
  const bytes = readFileSync(file)
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': imports })
  engine.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  return engine.SchemaEngine
}

/** The engine does not clear its timers, which would keep the process alive for a minute. */
function withoutWaiting([name, value]) {
  return [name, name.startsWith('__wbg_setTimeout_') ? (...args) => value(...args).unref() : value]
}
