import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import runtime from '@prisma/client/runtime/client'
import { bindMigrationAwareSqlAdapterFactory, type SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import { getInternalDMMF } from '@prisma/get-dmmf'
import { buildAndSerializeParamGraph } from '@prisma/param-graph-builder'
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg'
import type { PrismaResqlite } from 'resqlite/prisma'

declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<never>
  instantiate(
    bytes: Uint8Array,
    imports: object,
  ): Promise<{ instance: { exports: Record<string, () => void> } }>
}

// biome-ignore-start lint/suspicious/noExplicitAny: `prisma generate`, which makes the types of a client, is not run here
type Method = 'count' | 'create' | 'deleteMany' | 'findMany' | 'findUniqueOrThrow' | 'update' | 'upsert'
type Model = Record<Method, (args?: object) => Promise<any>>
type Tag<T> = (sql: TemplateStringsArray, ...values: unknown[]) => Promise<T>

/** A client of Prisma, as far as the tests use it. */
export interface Client {
  readonly user: Model
  readonly post: Model
  readonly sample: Model
  readonly $queryRaw: Tag<any[]>
  readonly $executeRaw: Tag<number>
  $transaction<T>(body: (tx: Client) => Promise<T>, options?: object): Promise<T>
  $transaction(queries: Promise<unknown>[], options?: object): Promise<any[]>
  $disconnect(): Promise<void>
}
// biome-ignore-end lint/suspicious/noExplicitAny: see above

const COMPILER = '@prisma/client/runtime/query_compiler_fast_bg.sqlite'

const compilerWasm = {
  getRuntime: () => import(`${COMPILER}.mjs`),
  getQueryCompilerWasmModule: once(async () => {
    const { wasm } = await import(`${COMPILER}.wasm-base64.mjs`)
    return await WebAssembly.compile(Buffer.from(wasm, 'base64'))
  }),
  importName: './query_compiler_fast_bg.js',
}

type ClientClass = new (options: object) => Client

const classes = new Map<string, ClientClass>()

/** Makes the class of the clients for these models, once, from the parts of which `prisma generate` makes it. */
export function clientClass(models: string): ClientClass {
  const known = classes.get(models) ?? makeClass(models)
  classes.set(models, known)
  return known
}

function makeClass(models: string): ClientClass {
  const inlineSchema = schemaOf(models)
  const dmmf = getInternalDMMF({ datamodel: inlineSchema })
  if (!('datamodel' in dmmf)) throw dmmf.error
  const PrismaClient: unknown = runtime.getPrismaClient({
    activeProvider: 'sqlite',
    clientVersion: '7',
    engineVersion: '7',
    previewFeatures: [],
    inlineSchema,
    runtimeDataModel: runtime.dmmfToRuntimeDataModel(dmmf.datamodel),
    parameterizationSchema: buildAndSerializeParamGraph(dmmf),
    compilerWasm,
  })
  return PrismaClient as ClientClass
}

/** Makes a client, and disconnects it after the test. */
export function connect(t: TestContext, models: string, adapter: PrismaResqlite): Client {
  const PrismaClient = clientClass(models)
  // Prisma's own limits are 2 and 5 seconds, which a busy machine may need.
  const client = new PrismaClient({ adapter, transactionOptions: { maxWait: 60_000, timeout: 60_000 } })
  t.after(() => client.$disconnect())
  return client
}

const loadEngine = once(async () => {
  const file = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm')
    .replace('.js', '_bg.wasm')
  const imports = Object.fromEntries(Object.entries(engine).map(withoutWaiting))
  const { instance } = await WebAssembly.instantiate(readFileSync(file), { './schema_engine_bg.js': imports })
  engine.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start?.()
  return engine.SchemaEngine
})

/** The engine does not clear its timers, which would keep the process alive for a minute. */
function withoutWaiting([name, value]: [string, unknown]): [string, unknown] {
  if (!name.startsWith('__wbg_setTimeout_')) return [name, value]
  const setTimer = value as (...args: unknown[]) => NodeJS.Timeout
  return [name, (...args: unknown[]) => setTimer(...args).unref()]
}

const filters = { externalTables: [], externalEnums: [] }

/** Does what `prisma db push` does: changes the database to these models. */
export async function push(adapter: PrismaResqlite, models: string): Promise<void> {
  await withEngine(adapter, models, (schema) =>
    schema.schemaPush({ force: false, schema: { files: filesOf(models) }, filters }),
  )
}

/** Returns the script that `prisma migrate` would write for a change of models. */
export async function migration(adapter: PrismaResqlite, before: string, after: string): Promise<string> {
  const { stdout } = await withEngine(adapter, after, (schema) =>
    schema.diff({
      from: { tag: 'schemaDatamodel', files: filesOf(before) },
      to: { tag: 'schemaDatamodel', files: filesOf(after) },
      script: true,
      exitCode: null,
      filters,
    }),
  )
  return stdout ?? ''
}

/** Prisma's engine leaves the connections open that it asks for. */
async function withEngine<T>(
  adapter: PrismaResqlite,
  models: string,
  use: (schema: engine.SchemaEngine) => Promise<T>,
): Promise<T> {
  const SchemaEngine = await loadEngine()
  const connections: Promise<SqlDriverAdapter>[] = []
  const kept = (connection: Promise<SqlDriverAdapter>) => {
    connections.push(connection)
    return connection
  }
  const bound = bindMigrationAwareSqlAdapterFactory({
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    connect: () => kept(adapter.connect()),
    connectToShadowDb: () => kept(adapter.connectToShadowDb()),
  })
  const schema = await SchemaEngine.new(
    { datamodels: [['schema.prisma', schemaOf(models)]] },
    () => {},
    bound,
  )
  try {
    return await use(schema)
  } finally {
    schema.free()
    for (const connection of connections) await (await connection).dispose()
  }
}

function filesOf(models: string) {
  return [{ path: 'schema.prisma', content: schemaOf(models) }]
}

function schemaOf(models: string): string {
  return `datasource db {\n  provider = "sqlite"\n}\n${models}`
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
