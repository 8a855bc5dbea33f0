import { join, resolve } from 'node:path'

/** The way to the native threads. One per JavaScript realm (main thread or worker_thread). */
export interface NativePort {
  /**
   * Hands over the request frames in `requests[0..length)`, which are copied before it returns. `staysAwake`: `drain`
   * will be called although nobody wakes this realm, until a call of it says otherwise.
   */
  submit(requests: Uint8Array, length: number, staysAwake: boolean): void
  /**
   * Copies whole reply frames into the inbox and returns the bytes written; 0 when nothing waits.
   * Calling it says that everything the previous call gave has been consumed.
   */
  drain(staysAwake: boolean): number
  /** The memory of a slab, stable for the life of the port. */
  slab(id: number): ArrayBuffer
  /** An owned payload. Each can be taken once. */
  take(id: number): Buffer
  /** Puts the counters of the live query that a request opened into `numbers`; false when there is none. */
  streamStats(request: number, numbers: Float64Array): boolean
}

/** What the native module exports. */
export interface NativeBinding {
  Port: new (inbox: Uint8Array, onWake: () => void) => NativePort
  sqliteVersion(): string
}

let loaded: NativeBinding | undefined

/** The native module: the one that `RESQLITE_NATIVE_PATH` names, or that of this platform. Loaded on first use. */
export function nativeBinding(): NativeBinding {
  loaded ??= load()
  return loaded
}

function load(): NativeBinding {
  const path = process.env.RESQLITE_NATIVE_PATH
  return path ? loadFrom(resolve(path)) : loadFor(nativeTriple())
}

/** Somebody has chosen a native module, so no other is tried. */
function loadFrom(path: string): NativeBinding {
  try {
    return require(path) as NativeBinding
  } catch (error) {
    throw new Error(
      `resqlite cannot load the native module that RESQLITE_NATIVE_PATH names:\n  ${path}: ${firstLine(error)}`,
    )
  }
}

function loadFor(triple: string): NativeBinding {
  const candidates = [join(__dirname, '..', '..', 'native', `resqlite.${triple}.node`), `@resqlite/${triple}`]
  const tried: string[] = []
  for (const candidate of candidates) {
    try {
      return require(candidate) as NativeBinding
    } catch (error) {
      tried.push(`  ${candidate}: ${firstLine(error)}`)
    }
  }
  throw new Error(
    `resqlite has no native module for ${triple} that can be loaded. Tried:\n${tried.join('\n')}\n` +
      `If the package was installed without optional dependencies, install @resqlite/${triple}.`,
  )
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0] as string
}

/** Platform, architecture and C library by the names that napi-rs uses: `linux-x64-gnu`, `win32-x64-msvc`. */
export function nativeTriple(platform: string = process.platform, arch: string = process.arch): string {
  if (platform === 'linux') return `linux-${arch}-${usesMusl() ? 'musl' : 'gnu'}`
  if (platform === 'win32') return `win32-${arch}-msvc`
  return `${platform}-${arch}`
}

/** The report names a glibc version only where the process runs on glibc. */
function usesMusl(): boolean {
  const report = process.report as (NodeJS.ProcessReport & { excludeNetwork?: boolean }) | undefined
  if (typeof report?.getReport !== 'function') return false
  const before = report.excludeNetwork
  report.excludeNetwork = true // else the report looks up host names, which can take seconds
  try {
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } }
    return header !== undefined && header.glibcVersionRuntime === undefined
  } finally {
    report.excludeNetwork = before
  }
}
