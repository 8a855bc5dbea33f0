// Takes the place of Prisma's `_utils/setupTestSuiteClient.ts`: makes the client of a suite with Prisma's published
// generators.

const { dirname, join } = require('node:path')
const { mkdirSync, writeFileSync } = require('node:fs')
const { getDMMF, parseEnvValue, processSchemaResult } = require('@prisma/internals')
const { getTestSuiteFolderPath, getTestSuiteSchema, getTestSuiteSchemaPath } = require('./getTestSuiteInfo')
const database = require('./setupTestSuiteEnv')

const runtimeBase = dirname(require.resolve('@prisma/client/runtime/client'))

exports.setupTestSuiteClient = async (suite) => {
  const { generatorType, cliMeta, suiteMeta, suiteConfig, datasourceInfo, skipDb } = suite
  const { matrixOptions } = suiteConfig
  const schemaPath = getTestSuiteSchemaPath({ suiteMeta, suiteConfig })
  const schema = getTestSuiteSchema({ cliMeta, suiteMeta, matrixOptions })
  mkdirSync(dirname(schemaPath), { recursive: true })
  writeFileSync(schemaPath, schema)
  process.env[datasourceInfo.envVarName] = datasourceInfo.databaseUrl
  process.env[datasourceInfo.directEnvVarName] = datasourceInfo.databaseUrl
  if (!skipDb) await database.setupTestSuiteDatabase(suite)

  const schemas = [[schemaPath, schema]]
  const context = await processSchemaResult({
    schemaResult: { schemas, schemaPath, schemaRootDir: dirname(schemaPath) },
  })
  const isTs = generatorType === 'prisma-client-ts'
  const outputDir = join(
    getTestSuiteFolderPath({ suiteMeta, suiteConfig }),
    'generated',
    'prisma',
    isTs ? '' : 'client',
  )
  const { generateClient } = require(`@prisma/client-generator-${isTs ? 'ts' : 'js'}`)
  await generateClient({
    datamodel: schema,
    schemaPath,
    dmmf: await getDMMF({ datamodel: schemas }),
    generator: context.generators.find(({ provider }) => parseEnvValue(provider).startsWith('prisma-client')),
    datasources: context.datasources,
    activeProvider: matrixOptions.provider,
    outputDir,
    runtimeBase,
    runtimeSourcePath: runtimeBase,
    binaryPaths: {},
    copyRuntime: false,
    testMode: true,
    clientVersion: '0.0.0',
    engineVersion: '0'.repeat(40),
    compilerBuild: 'fast',
    target: 'nodejs',
    moduleFormat: 'cjs',
    generatedFileExtension: 'ts',
    importFileExtension: '',
    tsNoCheckPreamble: false,
  })
  return [require(isTs ? join(outputDir, 'client') : outputDir), undefined]
}

exports.setupTestSuiteClientDriverAdapter = ({ datasourceInfo }) => ({
  adapter: database.driverAdapter(datasourceInfo),
})

/** The client loads its query compiler by `import()`, which jest does not have. */
exports.getPrismaClientInternalArgs = ({ suiteConfig }) => {
  const compiler = join(runtimeBase, `query_compiler_fast_bg.${suiteConfig.matrixOptions.provider}`)
  const compilerWasm = {
    getRuntime: async () => require(`${compiler}.js`),
    getQueryCompilerWasmModule: async () =>
      new WebAssembly.Module(Buffer.from(require(`${compiler}.wasm-base64.js`).wasm, 'base64')),
    importName: './query_compiler_fast_bg.js',
  }
  return { __internal: { configOverride: (config) => ({ ...config, compilerWasm }) } }
}
