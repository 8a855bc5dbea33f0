//! Functions whose result can change although no row changes.

/// The functions that make a query volatile. Date functions count whatever their arguments are, because only a run shows whether
/// one of them is `'now'`.
const VOLATILE: [&str; 19] = [
    "changes",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "julianday",
    "last_insert_rowid",
    "load_extension",
    "random",
    "randomblob",
    "sqlite_offset",
    "strftime",
    "time",
    "timediff",
    "total_changes",
    "unixepoch",
    "uuid",
    "uuid7",
];

/// Returns whether a function, named in lower case, makes a query volatile.
pub(super) fn is_volatile(function: &str) -> bool {
    VOLATILE.contains(&function)
}
