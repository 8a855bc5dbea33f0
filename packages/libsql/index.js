module.exports = require('resqlite/libsql')
