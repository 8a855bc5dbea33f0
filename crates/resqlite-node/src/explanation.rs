//! The result of `explainStream`, as JSON.

use resqlite::live::{Explanation, MaintenanceExplanation, TableExplanation};
use serde_json::{Value, json};

pub(crate) fn to_json(explanation: &Explanation) -> Vec<u8> {
    let (maintenance, why_rerun) = match &explanation.maintenance {
        MaintenanceExplanation::Rows { .. } => ("rows", None),
        MaintenanceExplanation::Groups { .. } => ("groups", None),
        MaintenanceExplanation::Aggregates { .. } => ("aggregates", None),
        MaintenanceExplanation::Window { .. } => ("window", None),
        MaintenanceExplanation::Rerun(why) => ("rerun", Some(why)),
    };
    let object = json!({
        "precision": explanation.precision().name(),
        "unknown": explanation.unknown,
        "tables": explanation.tables.iter().map(table).collect::<Vec<_>>(),
        "volatile": explanation.volatile,
        "maintenance": maintenance,
        "whyRerun": why_rerun,
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
