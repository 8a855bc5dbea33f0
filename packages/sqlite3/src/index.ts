import * as sqlite3 from './api'

export * from './api'
export default sqlite3
