//! A value as a row holds it.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
};

/// A value as SQLite stores it, owned.
///
/// Two values are equal where SQLite's `IS` finds them equal under the BINARY collation: same storage class and same
/// bytes, `-0.0` equal to `0.0`, NULL equal to NULL, and an INTEGER equal to a REAL of exactly its value. This equality
/// decides whether a row passes a filter. It does *not* decide whether a column changed: when `1` becomes `1.0`, the
/// column has changed, which [`is_same`](Self::is_same) sees and this comparison does not.
///
/// Values are ordered as SQLite's `ORDER BY` orders them under BINARY in a UTF-8 database: NULL, numbers by their exact
/// value, TEXT and BLOB by their bytes.
///
/// ```
/// use resqlite_live::Value;
/// assert_eq!(Value::Integer(1), Value::Real(1.0));
/// assert_ne!(Value::Text(b"1".as_slice().into()), Value::Blob(b"1".as_slice().into()));
/// assert!(Value::Real(0.5) < Value::Integer(1));
/// assert!(Value::Integer(i64::MAX) < Value::Text(b"".as_slice().into()));
/// ```
#[derive(Debug, Clone)]
pub enum Value {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL. SQLite never stores NaN; here a NaN equals only itself, bit for bit, and is less than any number.
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
    /// Returns whether a query returns the same for both values: `1` is not `1.0`, and `0.0` is not `-0.0`.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Real(left), Value::Real(right)) => left.to_bits() == right.to_bits(),
            (Value::Integer(_), Value::Real(_)) | (Value::Real(_), Value::Integer(_)) => false,
            _ => self == other,
        }
    }

    /// Bytes that the value holds outside itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Value::Null | Value::Integer(_) | Value::Real(_) => 0,
            Value::Text(bytes) | Value::Blob(bytes) => bytes.len(),
        }
    }

    /// Returns whether this is an INTEGER or a REAL that equals an INTEGER.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.canonical(), Canonical::Integer(_))
    }

    /// The position of the storage class in the order.
    fn class(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Integer(_) | Value::Real(_) => 1,
            Value::Text(_) => 2,
            Value::Blob(_) => 3,
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

/// The first power of two that is too large for an INTEGER; its negative is the smallest INTEGER.
const TWO_POW_63: f64 = 9_223_372_036_854_775_808.0;

/// The INTEGER that equals the number exactly.
fn integer(real: f64) -> Option<i64> {
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

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
            (Value::Integer(left), Value::Real(right)) => compare_mixed(*left, *right),
            (Value::Real(left), Value::Integer(right)) => compare_mixed(*right, *left).reverse(),
            (Value::Real(left), Value::Real(right)) => compare_reals(*left, *right),
            (Value::Text(left), Value::Text(right)) | (Value::Blob(left), Value::Blob(right)) => {
                left.cmp(right)
            }
            _ => self.class().cmp(&other.class()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares an integer with a real, without rounding either of them.
fn compare_mixed(integer: i64, real: f64) -> Ordering {
    if real.is_nan() || real < -TWO_POW_63 {
        return Ordering::Greater;
    }
    if real >= TWO_POW_63 {
        return Ordering::Less;
    }
    let whole = real.trunc();
    integer
        .cmp(&(whole as i64))
        .then_with(|| compare_reals(whole, real))
}

/// Compares two reals. `-0.0` equals `0.0`; a NaN is less than any number.
fn compare_reals(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| {
        let nan_bits = |real: f64| real.is_nan().then(|| real.to_bits());
        match (nan_bits(left), nan_bits(right)) {
            (Some(left), Some(right)) => left.cmp(&right),
            (left, right) => right.is_some().cmp(&left.is_some()),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::{
        cmp::Ordering,
        hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    };

    use proptest::{prelude::*, sample};

    use super::Value::{self, *};
    use dice::cases;

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

    #[test]
    fn storage_classes_are_ordered_before_their_values() {
        let ordered = [
            Null,
            Real(f64::NEG_INFINITY),
            Integer(i64::MIN),
            Integer(i64::MAX),
            Real(f64::INFINITY),
            Text(bytes(b"")),
            Text(bytes(b"a")),
            Text(bytes(b"a\0")),
            Text(bytes(b"ab")),
            Text(bytes(b"b")),
            Text(bytes("é".as_bytes())),
            Blob(bytes(b"")),
            Blob(bytes(b"a")),
        ];
        assert!(ordered.is_sorted_by(|left, right| left < right));
    }

    #[test]
    fn integers_and_reals_are_ordered_by_their_exact_values() {
        let ordered = [
            Real(-1.5),
            Integer(-1),
            Real(-0.5),
            Integer(0),
            Real(0.5),
            Integer(1),
            Real(1.5),
            Integer((1 << 53) - 1),
            Real(9_007_199_254_740_992.0),
            Integer((1 << 53) + 1),
            Integer(i64::MAX - 1),
            Integer(i64::MAX),
            Real(9_223_372_036_854_775_808.0),
        ];
        assert!(ordered.is_sorted_by(|left, right| left < right));
        assert!(Real(-9_223_372_036_854_777_856.0) < Integer(i64::MIN));
        assert_eq!(Real(-0.0).cmp(&Integer(0)), Ordering::Equal);
    }

    #[test]
    fn a_nan_is_less_than_any_number_and_more_than_null() {
        assert!(Null < Real(f64::NAN));
        assert!(Real(f64::NAN) < Real(f64::NEG_INFINITY));
        assert!(Real(f64::NAN) < Integer(i64::MIN));
        assert_eq!(Real(f64::NAN).cmp(&Real(f64::NAN)), Ordering::Equal);
    }

    /// Values near each other and near the borders of what the types hold.
    fn any_value() -> impl Strategy<Value = Value> {
        let integers = vec![0, 1, -1, 1 << 53, (1 << 53) + 1, i64::MAX, i64::MAX - 1, i64::MIN];
        let reals = vec![
            -0.0,
            0.5,
            9_007_199_254_740_992.0,
            9_223_372_036_854_775_808.0,
            -9_223_372_036_854_775_808.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
        ];
        prop_oneof![
            Just(Null),
            prop_oneof![sample::select(integers), any::<i64>()].prop_map(Integer),
            any::<i64>().prop_map(|integer| Real(integer as f64)),
            prop_oneof![sample::select(reals), any::<f64>()].prop_map(Real),
            any::<Vec<u8>>().prop_map(|text| Text(text.into())),
            any::<Vec<u8>>().prop_map(|blob| Blob(blob.into())),
        ]
    }

    proptest! {
        #![proptest_config(cases(512))]

        #[test]
        fn the_order_is_total_and_agrees_with_equality(a in any_value(), b in any_value(), c in any_value()) {
            prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
        }
    }
}
