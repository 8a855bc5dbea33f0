/** Returns the native module with nodes of clusters for a platform, by the name that resqlite gives it. */
module.exports = (platform) => require(`@resqlite/cluster-${platform}`)
