//! The query that must come before an integrity check.
//!
//! On each connection, FTS5 keeps the structure of its index. When a query begins, FTS5 checks whether another connection has changed the
//! structure since. When an integrity check begins, FTS5 does not check this (SQLite 3.54), and reports a sound index as damaged. So a
//! query comes first. With a pool of readers, it is always another connection that has written.

use resqlite_sqlite::{Connection, ValueRef};

use crate::{core::names::quoted, guard::Guard};

/// Makes the virtual tables check whether another connection has changed them. Tables that cannot be read are left to the integrity
/// check.
pub(super) fn look_at_virtual_tables(sqlite: &Connection, guard: &Guard) {
    guard.as_internal(|| {
        for table in virtual_tables(sqlite) {
            let _ = sqlite.query_text(&format!("SELECT rowid FROM {table} LIMIT 1"));
        }
    });
}

fn virtual_tables(sqlite: &Connection) -> Vec<String> {
    let mut tables = Vec::new();
    let list = "SELECT schema, name FROM pragma_table_list WHERE type = 'virtual'";
    let Ok(Some(mut list)) = sqlite.prepare(list, false).map(|prepared| prepared.statement) else {
        return tables;
    };
    while list.step() == Ok(true) {
        if let (ValueRef::Text(schema), ValueRef::Text(name)) = (list.column(0), list.column(1)) {
            tables.push(format!("{}.{}", name_of(schema), name_of(name)));
        }
    }
    tables
}

fn name_of(text: &[u8]) -> String {
    quoted(&String::from_utf8_lossy(text), '"')
}
