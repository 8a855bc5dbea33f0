export * from 'resqlite/libsql'
