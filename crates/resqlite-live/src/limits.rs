//! Every bound of this crate, by name.

/// The most rows of one table that a change set keeps with their images. With more rows, it reports that any row of
/// that table may have changed.
pub const ROWS_PER_TABLE: usize = 65_536;

/// Bytes that the rows of one change set may take together with their images, approximately. If a row does not fit, the
/// change set reports that any row of its table may have changed.
pub const IMAGE_BYTES_PER_CHANGE_SET: usize = 8 << 20;

/// The most tables that a change set distinguishes. With more tables, it reports that everything may have changed.
pub const TABLES_PER_CHANGE_SET: usize = 1_024;

/// Earlier states of tables that a change set keeps for rolling back. When there are more, the older ones are dropped,
/// and a rollback that would need them undoes less. Greater than [`TABLES_PER_CHANGE_SET`], so that the states of the
/// newest mark always fit.
pub const SAVED_STATES: usize = 8_192;

/// The most keys under which the registry finds a live query, unless one list of its filter alone has more values. The
/// keys are combinations of the values of several lists.
pub const KEYS_PER_FILTER: usize = 256;

/// Commits that the log keeps.
pub const LOG_COMMITS: usize = 16_384;

/// Bytes that the commits in the log may take together, approximately.
pub const LOG_BYTES: usize = 32 << 20;

/// A live query is slow if its last run counts as having taken this many microseconds or more.
pub const SLOW_MICROS: u64 = 20_000;

/// The number of levels of live queries, by the durations of their runs: one level of quick queries, and five of slow
/// ones.
pub const LEVELS: usize = 6;

/// The longest run of a level, in microseconds: 250 ms, 2 s, 16 s, 128 s, 17 minutes, 2.3 hours. A run that is given up
/// is made again at the next level. All runs that were given up before it together take at most a seventh of the
/// longest run of its level.
pub const fn run_max(level: usize) -> u64 {
    250_000 << (3 * level)
}

const _: () = assert!(SAVED_STATES > TABLES_PER_CHANGE_SET);
const _: () = assert!(
    LOG_BYTES > 2 * IMAGE_BYTES_PER_CHANGE_SET,
    "the largest commit must fit the log"
);
