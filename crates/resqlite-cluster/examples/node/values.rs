//! Values and rows as JSON, and back.

use resqlite::{Rows, Value};
use serde_json::{Value as Json, json};

pub(crate) fn array(of: &Json) -> &[Json] {
    of.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn value(of: &Json) -> Value {
    match of {
        Json::Number(number) => Value::Integer(number.as_i64().expect("an integer")),
        Json::String(text) => Value::Text(text.clone()),
        _ => Value::Null,
    }
}

pub(crate) fn rows(rows: &Rows) -> Json {
    rows.iter().map(|row| of_values(row.values())).collect()
}

fn of_values(values: &[Value]) -> Json {
    let of_value = |value: &Value| match value {
        Value::Null => Json::Null,
        Value::Integer(value) => json!(value),
        Value::Real(value) => json!(value),
        Value::Text(text) => json!(text),
        Value::Blob(bytes) => json!(format!("{bytes:?}")),
    };
    values.iter().map(of_value).collect()
}
