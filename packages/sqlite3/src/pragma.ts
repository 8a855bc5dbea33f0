/** SQLite without encryption does not know these PRAGMAs, and so ignores them. Sequelize sends a password that it is given. */
export const IGNORED = /^(?:(?:hex|text)?(?:re)?key|cipher\w*|kdf_iter|legacy_file_format)$/

/** PRAGMAs that resqlite sets on all connections, when a database is opened. */
export const AT_OPENING = new Set([
  ...['case_sensitive_like', 'cell_size_check', 'recursive_triggers'],
  ...['reverse_unordered_selects', 'secure_delete'],
])
