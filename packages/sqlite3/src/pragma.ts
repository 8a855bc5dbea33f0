/**
 * Matches PRAGMAs that SQLite without encryption does not know, and so ignores. Sequelize sends one of them if it is given a
 * password.
 */
export const IGNORED = /^(?:(?:hex|text)?(?:re)?key|cipher\w*|kdf_iter|legacy_file_format)$/

/** PRAGMAs that resqlite sets on all connections, when a database is opened. */
export const AT_OPENING = new Set([
  ...['case_sensitive_like', 'cell_size_check', 'recursive_triggers'],
  ...['reverse_unordered_selects', 'secure_delete'],
])
