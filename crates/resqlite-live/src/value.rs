//! A value as a key holds it.

use std::hash::{Hash, Hasher};

/// A value as SQLite stores it, owned.
///
/// Two values are equal where SQLite's `IS` finds them equal under the BINARY collation: same storage class and
/// same bytes, `-0.0` equal to `0.0`, NULL equal to NULL, and an INTEGER equal to a REAL of exactly its value.
/// That is what decides whether two primary keys name the same row. It does *not* decide whether a column
/// changed: there `1` becoming `1.0` is a change, which this comparison does not see.
///
/// ```
/// use resqlite_live::Value;
/// assert_eq!(Value::Integer(1), Value::Real(1.0));
/// assert_ne!(Value::Text(b"1".as_slice().into()), Value::Blob(b"1".as_slice().into()));
/// ```
#[derive(Debug, Clone)]
pub enum Value {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL. SQLite never stores NaN; here a NaN equals only itself, bit for bit.
    Real(f64),
    /// TEXT as UTF-8, which may be invalid.
    Text(Box<[u8]>),
    /// BLOB.
    Blob(Box<[u8]>),
}

/// One representation for all values that are equal.
#[derive(PartialEq, Eq, Hash)]
enum Canonical<'a> {
    Null,
    Integer(i64),
    /// Bits of a number that no INTEGER equals.
    Real(u64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

impl Value {
    /// Bytes that the value holds outside itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Value::Null | Value::Integer(_) | Value::Real(_) => 0,
            Value::Text(bytes) | Value::Blob(bytes) => bytes.len(),
        }
    }

    fn canonical(&self) -> Canonical<'_> {
        match self {
            Value::Null => Canonical::Null,
            Value::Integer(integer) => Canonical::Integer(*integer),
            Value::Real(real) => integer(*real).map_or(Canonical::Real(real.to_bits()), Canonical::Integer),
            Value::Text(bytes) => Canonical::Text(bytes),
            Value::Blob(bytes) => Canonical::Blob(bytes),
        }
    }
}

/// The INTEGER that equals the number exactly.
fn integer(real: f64) -> Option<i64> {
    const TWO_POW_63: f64 = 9_223_372_036_854_775_808.0;
    let exact = real.trunc() == real && (-TWO_POW_63..TWO_POW_63).contains(&real);
    exact.then_some(real as i64)
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.canonical().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    use super::Value::{self, *};

    fn bytes(bytes: &[u8]) -> Box<[u8]> {
        bytes.into()
    }

    fn assert_equal(left: Value, right: Value) {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        assert_eq!(left, right);
        assert_eq!(
            hasher.hash_one(&left),
            hasher.hash_one(&right),
            "{left:?} and {right:?} hash apart"
        );
    }

    #[test]
    fn an_integer_equals_the_real_of_its_value() {
        assert_equal(Integer(1), Real(1.0));
        assert_equal(Integer(i64::MIN), Real(-9_223_372_036_854_775_808.0));
        assert_equal(Integer(1 << 53), Real(9_007_199_254_740_992.0));
    }

    #[test]
    fn an_integer_that_no_real_holds_equals_none() {
        assert_ne!(Integer((1 << 53) + 1), Real(9_007_199_254_740_992.0));
        assert_ne!(Integer(i64::MAX), Real(9_223_372_036_854_775_808.0));
    }

    #[test]
    fn negative_zero_equals_zero() {
        assert_equal(Real(-0.0), Real(0.0));
        assert_equal(Real(-0.0), Integer(0));
    }

    #[test]
    fn reals_that_are_no_integers_compare_by_value() {
        assert_equal(Real(0.5), Real(0.5));
        assert_equal(Real(f64::INFINITY), Real(f64::INFINITY));
        assert_ne!(Real(0.5), Real(0.25));
        assert_ne!(Real(f64::INFINITY), Real(f64::NEG_INFINITY));
        assert_ne!(Real(f64::INFINITY), Integer(i64::MAX));
    }

    #[test]
    fn storage_classes_of_the_same_bytes_differ() {
        assert_ne!(Text(bytes(b"a")), Blob(bytes(b"a")));
        assert_ne!(Text(bytes(b"")), Null);
        assert_ne!(Text(bytes(b"0")), Integer(0));
    }

    #[test]
    fn text_and_blobs_compare_by_all_their_bytes() {
        assert_equal(Text(bytes(b"a\0b\xff")), Text(bytes(b"a\0b\xff")));
        assert_ne!(Text(bytes(b"a\0b")), Text(bytes(b"a\0c")));
        assert_ne!(Text(bytes(b"a")), Text(bytes(b"A")));
        assert_equal(Blob(bytes(&[0, 1])), Blob(bytes(&[0, 1])));
    }

    #[test]
    fn equality_is_reflexive_even_for_null_and_nan() {
        assert_equal(Null, Null);
        assert_equal(Real(f64::NAN), Real(f64::NAN));
    }
}
