//! Names and texts as SQL spells them.

/// The names by which SQL can read the rowid of a table. A name that a column has cannot be used.
pub(crate) const ROWID_NAMES: [&str; 3] = ["rowid", "_rowid_", "oid"];

/// Returns a name by which SQL can read the rowid of a table with these columns.
pub(crate) fn rowid_name(columns: &[impl AsRef<str>]) -> Option<&'static str> {
    let is_free = |name: &&str| {
        let mut columns = columns.iter();
        !columns.any(|column| column.as_ref().eq_ignore_ascii_case(name))
    };
    ROWID_NAMES.into_iter().find(is_free)
}

/// Returns the rest of a name after this prefix. The case of letters does not matter, as in SQLite.
pub(crate) fn after_prefix<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = name.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns the text in quotes.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

/// The table in which a database keeps the position and hash of its last entry.
pub(crate) const POSITION_TABLE: &str = "_resqlite_position";

/// The tables in which a database keeps data that resqlite itself needs. Entries do not carry these tables.
pub(crate) const OWN_TABLES: [&str; 4] = [
    POSITION_TABLE,
    "_resqlite_changes",
    "_resqlite_feeds",
    "_resqlite_feed_state",
];
