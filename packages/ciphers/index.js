/** Returns the native module with encryption for a platform, by the name that resqlite gives it. */
module.exports = (platform) => require(`@resqlite/ciphers-${platform}`)
