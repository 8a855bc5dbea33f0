/** Returns the native module with nodes of clusters for a platform, by the name that resqlite gives it. */
module.exports = (platform) => {
  // Each name is written out, so that tools which trace files or bundle them find it, and stands in a `try`, so that they pass
  // over those that are not installed.
  try {
    switch (platform) {
      case 'darwin-arm64':
        return require('@resqlite/cluster-darwin-arm64')
      case 'darwin-x64':
        return require('@resqlite/cluster-darwin-x64')
      case 'linux-arm64-gnu':
        return require('@resqlite/cluster-linux-arm64-gnu')
      case 'linux-arm64-musl':
        return require('@resqlite/cluster-linux-arm64-musl')
      case 'linux-x64-gnu':
        return require('@resqlite/cluster-linux-x64-gnu')
      case 'linux-x64-musl':
        return require('@resqlite/cluster-linux-x64-musl')
      case 'win32-arm64-msvc':
        return require('@resqlite/cluster-win32-arm64-msvc')
      case 'win32-x64-msvc':
        return require('@resqlite/cluster-win32-x64-msvc')
    }
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error))
  }
  throw new Error(`Cannot find module '@resqlite/cluster-${platform}'`)
}
