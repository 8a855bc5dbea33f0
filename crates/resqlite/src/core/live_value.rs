//! Conversions between the values of the live core and the values of a statement.

use resqlite_live::Value;
use resqlite_sqlite::ValueRef;

/// Returns the value as SQLite binds it: NaN becomes NULL. A column never holds NaN.
pub(crate) fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Real(real) if real.is_nan() => Value::Null,
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => Value::Text(bytes.into()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
    }
}

/// Returns the value in the form that a statement takes.
pub(crate) fn borrowed(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(value) => ValueRef::Integer(*value),
        Value::Real(value) => ValueRef::Real(*value),
        Value::Text(bytes) => ValueRef::Text(bytes),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    }
}
