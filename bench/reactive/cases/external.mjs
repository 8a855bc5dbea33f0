// A7: rows that a synchronisation brings.
export const table = {
  name: 'items',
  columns: { id: 'INTEGER', external_id: 'INTEGER', payload: 'TEXT' },
  unique: 'external_id',
}
export const bulkSize = 500
export const mergeSize = 100
export const merges = 10
export const payload = (i) => `payload of ${i}`.padEnd(40, '.')
export const values = (id) => [id, id, payload(id)]
