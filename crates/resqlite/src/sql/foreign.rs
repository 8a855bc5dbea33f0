//! Functions that the program or an extension defines, and of which nothing is known.

use std::collections::BTreeSet;

use resqlite_sqlite::Connection;

use crate::core::error::Result;

/// Functions that are not declared deterministic, but belong to SQLite or to resqlite. They read nothing besides their
/// arguments and the row that they belong to. `rtreecheck` is not one of them, as it reads a whole table.
const KNOWN: [&str; 17] = [
    "bm25",
    "fts3_tokenizer",
    "fts5",
    "fts5_get_locale",
    "fts5_insttoken",
    "fts5_locale",
    "geopoly_debug",
    "highlight",
    "match",
    "matchinfo",
    "offsets",
    "optimize",
    "rtreedepth",
    "rtreenode",
    "snippet",
    "uuid",
    "uuid7",
];

/// Returns those of `functions`, named in lower case, that may return anything at any time, for example because they read tables
/// themselves. A function that is declared deterministic may not.
pub(super) fn find(connection: &Connection, functions: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    if functions.is_empty() {
        return Ok(found);
    }
    const DETERMINISTIC: i32 = 0x800;
    let sql = format!(
        "SELECT DISTINCT lower(name) FROM pragma_function_list WHERE NOT builtin AND NOT flags & {DETERMINISTIC}"
    );
    let mut list = connection.prepare(&sql, false)?.statement;
    while let Some(row) = &mut list
        && row.step()?
    {
        let name = row.column_text(0).unwrap_or_default();
        if functions.contains(&name) && !KNOWN.contains(&name.as_str()) {
            found.push(name);
        }
    }
    Ok(found)
}
