//! The result of `explainStream`, as JSON.

use resqlite::{Explanation, TableExplanation};
use serde_json::{Value, json};

pub(crate) fn to_json(explanation: &Explanation) -> Vec<u8> {
    let object = json!({
        "precision": explanation.precision().name(),
        "unknown": explanation.unknown,
        "tables": explanation.tables.iter().map(table).collect::<Vec<_>>(),
        "volatile": explanation.volatile,
    });
    object.to_string().into_bytes()
}

fn table(table: &TableExplanation) -> Value {
    json!({
        "schema": table.schema,
        "table": table.table,
        "columns": table.columns.as_ref().map_or_else(|| json!("all"), |columns| json!(columns)),
        "precision": table.precision.name(),
        "conditions": table.conjuncts,
        "why": table.why,
    })
}
