//! A value that Rust owns.

use resqlite_sqlite::ValueRef;

/// A SQLite value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL. NaN is stored as NULL by SQLite.
    Real(f64),
    /// TEXT. Invalid UTF-8 in the database is read with U+FFFD.
    Text(String),
    /// BLOB.
    Blob(Vec<u8>),
}

macro_rules! from {
    ($($source:ty => $variant:ident),* $(,)?) => {
        $(impl From<$source> for Value {
            fn from(value: $source) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

from! {
    i64 => Integer, i32 => Integer, u32 => Integer, u8 => Integer, bool => Integer, f64 => Real,
    String => Text, &str => Text, Vec<u8> => Blob, &[u8] => Blob,
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(value) => Self::Integer(value),
            ValueRef::Real(value) => Self::Real(value),
            ValueRef::Text(bytes) => Self::Text(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.into()),
        }
    }
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(value) => Self::Integer(*value),
            Value::Real(value) => Self::Real(*value),
            Value::Text(text) => Self::Text(text.as_bytes()),
            Value::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
