//! The elements of JSON arrays.

use resqlite_live::Value;
use resqlite_sqlite::Connection;

use crate::core::live_value::{borrowed, owned};

/// Returns the elements that `json_each` finds in a JSON array; `None` if `json_each` fails, or if an element is no plain value.
pub(super) fn elements(connection: &Connection, array: &Value) -> Option<Vec<Value>> {
    let sql = "SELECT value, type FROM json_each(?1)";
    let mut rows = connection.prepare(sql, false).ok()?.statement?;
    rows.bind(1, borrowed(array)).ok()?;
    let mut values = Vec::new();
    while rows.step().ok()? {
        match rows.column_text(1).as_deref() {
            Some("array" | "object") => return None,
            _ => values.push(owned(rows.column(0))),
        }
    }
    Some(values)
}
