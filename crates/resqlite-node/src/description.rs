//! Descriptions of statements, and their columns, as JSON.

use resqlite::{Column, Description};
use serde_json::{Value, json};

/// Returns `{ readOnly, columns, parameters }`.
pub(crate) fn to_json(description: &Description) -> Vec<u8> {
    let object = json!({
        "readOnly": description.read_only,
        "columns": columns(&description.columns),
        "parameters": description.parameters,
    });
    object.to_string().into_bytes()
}

/// Returns a list of `{ name, type, table, column, database }`.
pub(crate) fn columns(columns: &[Column]) -> Value {
    let object = |column: &Column| {
        json!({
            "name": column.name,
            "type": column.declared_type,
            "table": column.table,
            "column": column.column,
            "database": column.database,
        })
    };
    columns.iter().map(object).collect()
}
