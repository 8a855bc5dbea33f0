import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'

/** The functions through which all frames pass. As methods of the port they would take ten times as long. */
export interface NativeFunctions {
  /**
   * Hands over the request frames in `requests[0..length)`, which are copied before it returns. `isPolling`: this realm calls
   * `drain` without being woken, until it passes false to `drain`. `inline`: the requests are all that this realm waits for,
   * and may run within this call. Returns the number of bytes of replies in the inbox, see `replyBytes`.
   */
  submit(requests: Uint8Array, length: number, isPolling: boolean, inline: boolean): number
  /**
   * Copies whole reply frames into the inbox and returns the number of bytes; 0 if there are none. The frames and slabs
   * of the previous call may be overwritten from now on. `isPolling` as in `submit`.
   */
  drain(isPolling: boolean): number
}

/** The native end of the connection between a realm (the main thread or a worker_thread) and the engine. */
export interface NativePort {
  /** Returns the functions `submit` and `drain`. */
  functions(): NativeFunctions
  /** Returns the memory of a slab, which is the same for the life of the port. */
  slab(id: number): ArrayBuffer
  /** Returns an owned payload. Each can be taken once. */
  take(id: number): Buffer
  /** Returns the numbers of the requests to a database handle, and of some that have ended. */
  requestsOf(handle: number): number[]
  /** Returns the number of submitted parts of a batch that wait for the writer. */
  partsWaiting(request: number): number
  /** Interrupts the requests that run for an open database handle, and drops those that wait. */
  interrupt(handle: number): void
  /** Returns the status of a node of a cluster, as JSON; null if the handle is not that of a node, or is closed. */
  clusterStatus(handle: number): string | null
  /** Returns the number of emissions of the live query of a request, if the last one shows all that is committed now; else null. */
  caughtUpWith(request: number): number | null
  /** Writes the counters of the live query of a request to `numbers`. Returns false if there is none. */
  streamStats(request: number, numbers: Float64Array): boolean
}

/** The exports of the native module. */
export interface NativeBinding {
  Port: new (inbox: Uint8Array, onWake: () => void, isMainThread: boolean, isNode: boolean) => NativePort
  sqliteVersion(): string
  /** Returns whether databases can have a key. */
  canEncrypt(): boolean
  /** Returns the logs that a node of a cluster can use. There are none unless the module was built for clusters. */
  clusterLogs(): string[]
  /** Breaks a log in memory, for tests. */
  breakLog(log: string, what: string, node: string, count: number): void
}

let loaded: NativeBinding | undefined
/** The package whose native module was loaded, or the path of the module. */
let loadedFrom: string | undefined
/** The reasons why installed packages with their own native modules were not used. */
const failures = new Map<string, string>()

/** Returns the native module that `RESQLITE_NATIVE_PATH` names, or the one for this platform. Loads it on first use. */
export function nativeBinding(): NativeBinding {
  loaded ??= load()
  return loaded
}

/** Returns the reason why `@resqlite/ciphers` was not loaded; undefined if it was loaded, or is not installed. */
export function whyNoCiphers(): string | undefined {
  nativeBinding()
  if (loadedFrom !== CLUSTER || !isInstalled(CIPHERS)) return failures.get(CIPHERS)
  return 'a process has one SQLite, and that of @resqlite/cluster is used, which cannot encrypt; uninstall one of the two'
}

/** Returns the reason why `@resqlite/cluster` has no native module here; undefined if it has one, or is not installed. */
export function whyNoCluster(): string | undefined {
  nativeBinding()
  return failures.get(CLUSTER)
}

function load(): NativeBinding {
  const path = process.env.RESQLITE_NATIVE_PATH
  return path ? loadFrom(resolve(path)) : loadFor(nativeTriple())
}

/** Loads the native module that the environment variable names; no other is tried. */
function loadFrom(path: string): NativeBinding {
  try {
    return requireFile(path)
  } catch (error) {
    throw new Error(
      `resqlite cannot load the native module that RESQLITE_NATIVE_PATH names:\n  ${path}: ${firstLine(error)}`,
    )
  }
}

/** Loads a file that is known at run time only. Bundlers leave this `require` alone. */
function requireFile(path: string): NativeBinding {
  return createRequire(path)(path)
}

/**
 * Packages with native modules of their own: for nodes of clusters, and for encryption. All databases use the first one that
 * is installed, because a process needs a single SQLite.
 */
const CLUSTER = '@resqlite/cluster/native'
const CIPHERS = '@resqlite/ciphers'

function loadFor(triple: string): NativeBinding {
  const tried: string[] = []
  for (const candidate of candidates(triple)) {
    try {
      const binding = isAbsolute(candidate) ? requireFile(candidate) : requirePackage(candidate, triple)
      loadedFrom = candidate
      return binding
    } catch (error) {
      const reason = firstLine(error)
      tried.push(`  ${candidate}: ${reason}`)
      if (isInstalled(candidate)) failures.set(candidate, reason)
    }
  }
  throw new Error(
    `resqlite has no native module for ${triple} that can be loaded. Tried:\n${tried.join('\n')}\n` +
      `If the package was installed without optional dependencies, install @resqlite/${triple}. ` +
      `If the program was bundled, keep @resqlite/${triple} out of the bundle (external), and deploy it with the program: ` +
      'https://github.com/resqlite/resqlite/blob/main/docs/deploying.md#bundlers',
  )
}

/** The packages and the file that may have the native module, in the order in which they are tried. */
function candidates(triple: string): string[] {
  const list = [CLUSTER, CIPHERS]
  // A bundle that is an ES module has no `__dirname`, and no such folder.
  if (typeof __dirname === 'string') {
    list.push(join(__dirname, '..', '..', 'native', `resqlite.${triple}.node`))
  }
  list.push(`@resqlite/${triple}`)
  // Not every runtime reports correctly which C library it runs on. The module for the wrong library does not load.
  if (triple.endsWith('-gnu')) list.push(`@resqlite/${triple.replace(/gnu$/, 'musl')}`)
  if (triple.endsWith('-musl')) list.push(`@resqlite/${triple.replace(/musl$/, 'gnu')}`)
  return list
}

/**
 * Loads a package with a native module. Each name is written out, so that tools which trace files or bundle them find it. It
 * is in a `try`, so that these tools skip packages that are not installed.
 */
function requirePackage(name: string, triple: string): NativeBinding {
  try {
    switch (name) {
      case '@resqlite/cluster/native':
        return require('@resqlite/cluster/native')(triple)
      case '@resqlite/ciphers':
        return require('@resqlite/ciphers')(triple)
      case '@resqlite/darwin-arm64':
        return require('@resqlite/darwin-arm64')
      case '@resqlite/darwin-x64':
        return require('@resqlite/darwin-x64')
      case '@resqlite/linux-arm64-gnu':
        return require('@resqlite/linux-arm64-gnu')
      case '@resqlite/linux-arm64-musl':
        return require('@resqlite/linux-arm64-musl')
      case '@resqlite/linux-x64-gnu':
        return require('@resqlite/linux-x64-gnu')
      case '@resqlite/linux-x64-musl':
        return require('@resqlite/linux-x64-musl')
      case '@resqlite/win32-arm64-msvc':
        return require('@resqlite/win32-arm64-msvc')
      case '@resqlite/win32-x64-msvc':
        return require('@resqlite/win32-x64-msvc')
    }
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error))
  }
  throw new Error(`Cannot find module '${name}'`)
}

/** Returns whether `name` is one of the two packages above and is installed. An installed package may still fail to load. */
function isInstalled(name: string): boolean {
  try {
    if (name === CLUSTER) return require.resolve('@resqlite/cluster/native') !== undefined
    return name === CIPHERS && require.resolve('@resqlite/ciphers') !== undefined
  } catch {
    return false
  }
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0] as string
}

/** Returns platform, architecture and C library in the notation of napi-rs: `linux-x64-gnu`, `win32-x64-msvc`. */
export function nativeTriple(platform: string = process.platform, arch: string = process.arch): string {
  if (platform === 'linux') return `linux-${arch}-${usesMusl() ? 'musl' : 'gnu'}`
  if (platform === 'win32') return `win32-${arch}-msvc`
  return `${platform}-${arch}`
}

/**
 * Returns whether the process runs on musl. The diagnostic report contains a glibc version only if the process runs on glibc;
 * Deno may have an empty text there.
 */
function usesMusl(): boolean {
  const report = process.report as (NodeJS.ProcessReport & { excludeNetwork?: boolean }) | undefined
  if (typeof report?.getReport !== 'function') return false
  const before = report.excludeNetwork
  report.excludeNetwork = true // otherwise the report resolves host names, which can take seconds
  try {
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } }
    return header !== undefined && !header.glibcVersionRuntime
  } finally {
    report.excludeNetwork = before
  }
}
