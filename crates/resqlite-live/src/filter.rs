//! Filters for the rows of a table that can change the result of a query.

use std::ops::{Bound, RangeBounds};

use crate::value::Value;

/// A condition on the value of a column. NULL never passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// The value is one of these values.
    In(Box<[Value]>),
    /// The value lies between two ends, in the order of [`Value`].
    Range {
        /// The lower end.
        lower: Bound<Value>,
        /// The upper end.
        upper: Bound<Value>,
    },
}

/// A test of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conjunct {
    /// The index of the column in its table.
    pub column: u16,
    /// The condition on the value of the column.
    pub test: Test,
}

/// The tests that a row must pass to change the result. There is at least one test, and the row must pass all of them.
///
/// ```
/// use resqlite_live::{Conjunct, Filter, Test, Value};
/// let test = Test::In([Value::Integer(7)].into());
/// let filter = Filter::new([Conjunct { column: 2, test }]).unwrap();
/// assert!(filter.matches(&[0, 2], &[Value::Integer(1), Value::Integer(7)]));
/// assert!(!filter.matches(&[0, 2], &[Value::Integer(7), Value::Integer(1)]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(Box<[Conjunct]>);

impl Filter {
    /// Returns a filter of these tests, or `None` if there is no test. A column may have several tests.
    pub fn new(conjuncts: impl IntoIterator<Item = Conjunct>) -> Option<Self> {
        let mut conjuncts: Box<[Conjunct]> = conjuncts.into_iter().collect();
        conjuncts.sort_by_key(|conjunct| conjunct.column);
        conjuncts.iter_mut().for_each(|conjunct| conjunct.test.tidy());
        (!conjuncts.is_empty()).then_some(Self(conjuncts))
    }

    /// Returns the tests, by column. The values of each [`Test::In`] are ascending, without duplicates and NULL.
    pub fn conjuncts(&self) -> &[Conjunct] {
        &self.0
    }

    /// Returns the columns that are tested in ascending order, each column once.
    pub fn columns(&self) -> impl Iterator<Item = u16> {
        self.0
            .chunk_by(|left, right| left.column == right.column)
            .map(|same| same[0].column)
    }

    /// Returns whether a row with this image can pass. The image has the columns `watched_images` (ascending). A column that is
    /// not among them can have any value.
    pub fn matches(&self, watched_images: &[u16], image: &[Value]) -> bool {
        self.0.iter().all(
            |Conjunct { column, test }| match watched_images.binary_search(column) {
                Ok(position) => test.passes(&image[position]),
                Err(_) => true,
            },
        )
    }
}

impl Test {
    /// Sorts the values, and removes duplicates and NULL.
    fn tidy(&mut self) {
        if let Test::In(values) = self {
            let mut tidied = std::mem::take(values).into_vec();
            tidied.retain(|value| *value != Value::Null);
            tidied.sort_unstable();
            tidied.dedup();
            *values = tidied.into();
        }
    }

    /// Returns whether the value passes. The test is tidy.
    fn passes(&self, value: &Value) -> bool {
        *value != Value::Null
            && match self {
                Test::In(values) => values.binary_search(value).is_ok(),
                Test::Range { lower, upper } => (lower.as_ref(), upper.as_ref()).contains(value),
            }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{self, Excluded, Included, Unbounded};

    use super::{Conjunct, Filter, Test};
    use crate::value::Value;

    fn text(text: &str) -> Value {
        Value::Text(text.as_bytes().into())
    }

    fn one_of(column: u16, values: impl IntoIterator<Item = Value>) -> Conjunct {
        let test = Test::In(values.into_iter().collect());
        Conjunct { column, test }
    }

    fn range(column: u16, lower: Bound<i64>, upper: Bound<i64>) -> Conjunct {
        let (lower, upper) = (lower.map(Value::Integer), upper.map(Value::Integer));
        let test = Test::Range { lower, upper };
        Conjunct { column, test }
    }

    /// Returns whether a filter of this one test passes the value.
    fn passes(conjunct: Conjunct, value: Value) -> bool {
        let column = conjunct.column;
        Filter::new([conjunct]).unwrap().matches(&[column], &[value])
    }

    #[test]
    fn a_filter_has_at_least_one_test() {
        assert_eq!(Filter::new([]), None);
    }

    #[test]
    fn a_value_of_the_list_passes_at_any_position() {
        let list = || one_of(0, [text("b"), Value::Integer(3), text("a"), Value::Integer(3)]);
        for (value, expected) in [
            (Value::Integer(3), true),
            (Value::Real(3.0), true),
            (text("a"), true),
            (text("b"), true),
            (text("3"), false),
            (Value::Blob(b"a".as_slice().into()), false),
        ] {
            assert_eq!(passes(list(), value.clone()), expected, "{value:?}");
        }
    }

    #[test]
    fn null_never_passes() {
        assert!(!passes(one_of(0, [Value::Null, Value::Integer(1)]), Value::Null));
        assert!(!passes(one_of(0, [Value::Null]), Value::Null));
        assert!(!passes(range(0, Unbounded, Unbounded), Value::Null));
        assert!(!passes(range(0, Unbounded, Included(5)), Value::Null));
    }

    #[test]
    fn the_values_of_a_list_are_ascending_without_duplicates_and_null() {
        let values = |values: &[Value]| {
            let filter = Filter::new([one_of(0, values.iter().cloned())]).unwrap();
            filter.conjuncts()[0].test.clone()
        };
        let [one, two, null] = [Value::Integer(1), Value::Integer(2), Value::Null];
        assert_eq!(values(std::slice::from_ref(&null)), Test::In([].into()));
        let given = [two.clone(), one.clone(), null, Value::Real(1.0)];
        assert_eq!(values(&given), Test::In([one, two].into()));
    }

    #[test]
    fn an_empty_list_passes_nothing() {
        assert!(!passes(one_of(0, []), Value::Integer(1)));
    }

    #[test]
    fn a_range_passes_values_between_its_ends() {
        let values = |lower, upper| {
            let between = |value: &i64| passes(range(0, lower, upper), Value::Integer(*value));
            (0..6).filter(between).collect::<Vec<_>>()
        };
        assert_eq!(values(Included(2), Included(4)), [2, 3, 4]);
        assert_eq!(values(Excluded(2), Excluded(4)), [3]);
        assert_eq!(values(Unbounded, Excluded(2)), [0, 1]);
        assert_eq!(values(Excluded(3), Unbounded), [4, 5]);
        assert_eq!(values(Included(4), Included(2)), []);
        assert_eq!(values(Excluded(3), Excluded(3)), []);
    }

    #[test]
    fn a_range_without_upper_end_passes_the_storage_classes_above() {
        assert!(passes(range(0, Included(2), Unbounded), text("")));
        assert!(!passes(range(0, Unbounded, Included(2)), text("")));
    }

    #[test]
    fn all_tests_must_hold() {
        let filter = Filter::new([range(3, Included(2), Unbounded), one_of(1, [text("a")])]).unwrap();
        let matches = |first: &str, second| filter.matches(&[1, 3], &[text(first), Value::Integer(second)]);
        assert!(matches("a", 2));
        assert!(!matches("a", 1));
        assert!(!matches("b", 2));
    }

    #[test]
    fn a_column_that_is_not_in_the_image_can_have_any_value() {
        let filter = Filter::new([one_of(1, [text("a")]), one_of(2, [text("b")])]).unwrap();
        assert!(filter.matches(&[], &[]));
        assert!(filter.matches(&[2], &[text("b")]));
        assert!(!filter.matches(&[2], &[text("a")]));
    }

    #[test]
    fn columns_are_ascending_and_named_once() {
        let tests = [5, 1, 5, 3].map(|column| one_of(column, []));
        assert!(Filter::new(tests).unwrap().columns().eq([1, 3, 5]));
    }
}
