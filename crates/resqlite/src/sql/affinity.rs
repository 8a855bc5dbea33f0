//! The comparisons between a column and values in which SQLite converts neither side.

use resqlite_live::Value;

/// The type to which SQLite converts values that are stored in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Affinity {
    /// INTEGER and NUMERIC, which compare alike.
    Numeric,
    Real,
    Text,
    /// BLOB, or none.
    Blob,
}

impl Affinity {
    /// The affinity of a declared type, by SQLite's rules.
    pub(crate) fn of(declared: &str) -> Self {
        let declared = declared.to_ascii_uppercase();
        let has = |parts: &[&str]| parts.iter().any(|part| declared.contains(part));
        match () {
            () if has(&["INT"]) => Self::Numeric,
            () if has(&["CHAR", "CLOB", "TEXT"]) => Self::Text,
            () if declared.is_empty() || has(&["BLOB"]) => Self::Blob,
            () if has(&["REAL", "FLOA", "DOUB"]) => Self::Real,
            // In a STRICT table, ANY has no affinity; the rules for numbers are the narrower ones.
            () => Self::Numeric,
        }
    }

    /// Returns the affinity for an equality between columns of these two affinities. Values that this affinity leaves unchanged are
    /// compared as they are. Returns `None` if SQLite may convert the values of one of the columns.
    pub(crate) fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            _ if self == other => Some(self),
            (Self::Numeric, Self::Real) | (Self::Real, Self::Numeric) => Some(Self::Real),
            (Self::Text, Self::Blob) | (Self::Blob, Self::Text) => Some(Self::Text),
            _ => None,
        }
    }

    /// Checks that SQLite compares a column of this affinity with the value without converting either, whatever index it
    /// uses. If it converts one, the error gives the reason.
    pub(crate) fn fits(self, value: &Value, utf8: bool) -> Result<(), &'static str> {
        match (self, value) {
            (_, Value::Null) => Err("it is compared with NULL"),
            (_, Value::Blob(_)) => Ok(()),
            (_, Value::Text(_)) if !utf8 => Err("text is compared in another encoding than UTF-8"),
            (Self::Text | Self::Blob, Value::Text(_)) => Ok(()),
            (Self::Numeric | Self::Blob, Value::Integer(_) | Value::Real(_)) => Ok(()),
            (Self::Real, Value::Real(_)) => Ok(()),
            // A larger integer becomes another number where SQLite converts it to a REAL.
            (Self::Real, Value::Integer(value)) if value.unsigned_abs() <= 1 << 53 => Ok(()),
            (Self::Real, Value::Integer(_)) => Err("it is compared with an integer that no REAL holds"),
            _ => Err("it is compared with a value of another type, which SQLite converts"),
        }
    }
}

#[cfg(test)]
mod tests {
    use resqlite_live::Value;

    use super::Affinity::{self, *};

    #[test]
    fn a_declared_type_has_the_affinity_that_sqlite_gives_it() {
        for (declared, affinity) in [
            ("INTEGER", Numeric),
            ("bigint", Numeric),
            ("CHARINT", Numeric),
            ("FLOATING POINT", Numeric),
            ("VARCHAR(20)", Text),
            ("clob", Text),
            ("TEXTBLOB", Text),
            ("", Blob),
            ("BLOB", Blob),
            ("REALBLOB", Blob),
            ("DOUBLE PRECISION", Real),
            ("float", Real),
            ("DECIMAL(10,5)", Numeric),
            ("BOOLEAN", Numeric),
            ("DATETIME", Numeric),
            ("ANY", Numeric),
        ] {
            assert_eq!(Affinity::of(declared), affinity, "{declared}");
        }
    }

    #[test]
    fn columns_are_compared_as_they_are_if_both_hold_numbers_or_neither_is_meant_to() {
        for (one, other, both) in [
            (Numeric, Numeric, Some(Numeric)),
            (Numeric, Real, Some(Real)),
            (Text, Blob, Some(Text)),
            (Text, Text, Some(Text)),
            (Blob, Blob, Some(Blob)),
            (Numeric, Text, None),
            (Real, Text, None),
            (Numeric, Blob, None),
            (Real, Blob, None),
        ] {
            assert_eq!(one.with(other), both, "{one:?} {other:?}");
            assert_eq!(other.with(one), both, "{other:?} {one:?}");
        }
    }

    fn text() -> Value {
        Value::Text(b"1".as_slice().into())
    }

    #[test]
    fn values_that_sqlite_would_convert_do_not_fit() {
        for (affinity, value) in [
            (Numeric, text()),
            (Real, text()),
            (Text, Value::Integer(1)),
            (Text, Value::Real(1.5)),
            (Real, Value::Integer((1 << 53) + 1)),
            (Real, Value::Integer(i64::MIN)),
        ] {
            assert!(affinity.fits(&value, true).is_err(), "{affinity:?} {value:?}");
        }
        for affinity in [Numeric, Real, Text, Blob] {
            assert!(affinity.fits(&Value::Null, true).is_err());
            assert!(affinity.fits(&text(), false).is_err());
        }
    }

    #[test]
    fn values_that_sqlite_compares_as_they_are_fit() {
        for (affinity, value) in [
            (Numeric, Value::Integer(i64::MAX)),
            (Numeric, Value::Real(0.5)),
            (Real, Value::Integer(-(1 << 53))),
            (Real, Value::Real(1e300)),
            (Text, text()),
            (Blob, text()),
            (Blob, Value::Integer(1)),
            (Blob, Value::Real(1.0)),
        ] {
            assert_eq!(affinity.fits(&value, true), Ok(()), "{affinity:?} {value:?}");
        }
        for affinity in [Numeric, Real, Text, Blob] {
            assert_eq!(affinity.fits(&Value::Blob([].into()), true), Ok(()));
        }
    }
}
