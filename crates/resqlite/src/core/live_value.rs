//! Values of the live core, from those of a statement and to it.

use resqlite_live::Value;
use resqlite_sqlite::ValueRef;

/// The value as SQLite binds it: what is no number becomes NULL. A column never holds such a value.
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

/// The value as a statement takes it.
pub(crate) fn borrowed(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(value) => ValueRef::Integer(*value),
        Value::Real(value) => ValueRef::Real(*value),
        Value::Text(bytes) => ValueRef::Text(bytes),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    }
}
