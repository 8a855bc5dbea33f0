import { join } from 'node:path'

// Before a database is opened: the native module with nodes. npm test builds it together with that with counters.
process.env.RESQLITE_NATIVE_PATH =
  process.env.RESQLITE_TEST_CLUSTER ??
  join(__dirname, '..', '..', '..', '..', 'resqlite', 'native', 'profile', 'tests.node')
