const platforms = [
  ...['darwin-arm64', 'darwin-x64', 'win32-arm64-msvc', 'win32-x64-msvc'],
  ...['linux-arm64-gnu', 'linux-arm64-musl', 'linux-x64-gnu', 'linux-x64-musl'],
]

export default {
  output: 'standalone',
  serverExternalPackages: platforms.map((platform) => `@resqlite/${platform}`),
}
