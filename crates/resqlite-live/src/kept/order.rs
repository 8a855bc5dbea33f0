//! The order of the rows of a result.

use std::{borrow::Cow, cmp::Ordering};

use crate::{
    kept::row::{Place, SourceKey},
    value::Value,
};

/// The order of two rows of a result: by the terms of ORDER BY, then by the base rows they came from. So the order is total, and
/// rows with equal sort keys have one order, whatever plan SQLite chose.
///
/// ```
/// use resqlite_live::{Collation, Order, OrderTerm};
/// // ORDER BY name COLLATE NOCASE DESC NULLS LAST, id
/// let name = OrderTerm { collation: Collation::NoCase, descending: true, nulls_last: true };
/// let order = Order::new([name].into(), false);
/// # let _ = order;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    terms: Box<[OrderTerm]>,
    identity_descending: bool,
}

/// The comparison by one term of ORDER BY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderTerm {
    /// The collation of texts.
    pub collation: Collation,
    /// DESC.
    pub descending: bool,
    /// NULLs stand after all values in the result, whatever the direction. If the statement does not say where NULLs go, SQLite
    /// puts them last if the term is `descending`.
    pub nulls_last: bool,
}

/// SQLite's own collations. They apply to TEXT only; other values compare as under BINARY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collation {
    /// By bytes.
    Binary,
    /// By bytes, with the letters A to Z as a to z.
    NoCase,
    /// By bytes, without spaces at the end.
    RTrim,
}

impl Order {
    /// Returns the order by these terms. Rows with equal terms are ordered by their sources, one source after the other, in
    /// descending order if `identity_descending`.
    pub fn new(terms: Box<[OrderTerm]>, identity_descending: bool) -> Self {
        Self {
            terms,
            identity_descending,
        }
    }

    /// The number of ORDER BY terms.
    pub(super) fn terms(&self) -> usize {
        self.terms.len()
    }

    /// Compares two rows. Rows are equal only if they came from the same base rows.
    pub(super) fn compare(&self, left: Place, right: Place) -> Ordering {
        let values = left.sort.iter().zip(right.sort);
        let by_terms = (self.terms.iter().zip(values))
            .map(|(term, (left, right))| term.compare(left, right))
            .find(|ordering| ordering.is_ne());
        by_terms.unwrap_or_else(|| {
            let identity = compare_sources(left.sources, right.sources);
            reversed_if(self.identity_descending, identity)
        })
    }
}

/// Compares the base rows that two rows of a result came from. If the result has several SELECTs, a row has no base rows of the
/// sources of the SELECTs before the SELECT that made the row. Then the keys are compared as SQLite compares columns, and equal
/// keys are in the order of the SELECTs.
fn compare_sources(left: &[SourceKey], right: &[SourceKey]) -> Ordering {
    let before = |sources: &[SourceKey]| {
        let mut present = sources.iter();
        present
            .position(|key| *key != SourceKey::Absent)
            .unwrap_or(sources.len())
    };
    let (of_left, of_right) = (before(left), before(right));
    if of_left == of_right {
        return left.cmp(right);
    }
    let (mut left, mut right) = (key_columns(&left[of_left..]), key_columns(&right[of_right..]));
    loop {
        let ordering = match (left.next(), right.next()) {
            (None, None) => return of_left.cmp(&of_right),
            (left, right) => left
                .as_deref()
                .unwrap_or(&Value::Null)
                .cmp(right.as_deref().unwrap_or(&Value::Null)),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
}

/// Returns the columns of keys, one after the other.
fn key_columns(sources: &[SourceKey]) -> impl Iterator<Item = Cow<'_, Value>> {
    sources.iter().flat_map(|key| {
        let (one, several) = match key {
            SourceKey::Absent => (Some(Value::Null), &[][..]),
            SourceKey::Rowid(rowid) => (Some(Value::Integer(*rowid)), &[][..]),
            SourceKey::Columns(values) => (None, &values[..]),
        };
        one.map(Cow::Owned)
            .into_iter()
            .chain(several.iter().map(Cow::Borrowed))
    })
}

impl OrderTerm {
    fn compare(&self, left: &Value, right: &Value) -> Ordering {
        let is_null = |value: &Value| matches!(value, Value::Null);
        match (is_null(left), is_null(right)) {
            (true, true) => Ordering::Equal,
            (true, false) => reversed_if(self.nulls_last, Ordering::Less),
            (false, true) => reversed_if(self.nulls_last, Ordering::Greater),
            (false, false) => reversed_if(self.descending, self.collation.compare(left, right)),
        }
    }
}

impl Collation {
    fn compare(self, left: &Value, right: &Value) -> Ordering {
        match (self, left, right) {
            (Collation::NoCase, Value::Text(left), Value::Text(right)) => compare_no_case(left, right),
            (Collation::RTrim, Value::Text(left), Value::Text(right)) => trimmed(left).cmp(trimmed(right)),
            _ => left.cmp(right),
        }
    }
}

fn reversed_if(reverse: bool, ordering: Ordering) -> Ordering {
    if reverse { ordering.reverse() } else { ordering }
}

/// Compares two texts under NOCASE. SQLite stops at a NUL byte in both texts: texts of the same length are then equal.
fn compare_no_case(left: &[u8], right: &[u8]) -> Ordering {
    let folded = left.iter().zip(right);
    folded
        .map(|(left, right)| (left.to_ascii_lowercase(), right.to_ascii_lowercase()))
        .take_while(|bytes| *bytes != (0, 0))
        .map(|(left, right)| left.cmp(&right))
        .find(|ordering| ordering.is_ne())
        .unwrap_or_else(|| left.len().cmp(&right.len()))
}

fn trimmed(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .rposition(|&byte| byte != b' ')
        .map_or(0, |last| last + 1);
    &text[..end]
}

/// The expected orders are the results of SQLite 3.40 with ORDER BY.
#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use smallvec::{SmallVec, smallvec};

    use super::{Collation, Order, OrderTerm};
    use crate::{
        kept::row::{Place, SourceKey},
        value::Value::{self, Blob, Integer, Null, Real, Text},
    };

    fn text(text: &str) -> Value {
        Text(text.as_bytes().into())
    }

    fn blob(blob: &str) -> Value {
        Blob(blob.as_bytes().into())
    }

    fn ascending(collation: Collation) -> OrderTerm {
        OrderTerm {
            collation,
            descending: false,
            nulls_last: false,
        }
    }

    fn compare(term: OrderTerm, left: &Value, right: &Value) -> Ordering {
        let place = |value| Place {
            sort: std::slice::from_ref(value),
            sources: &[],
        };
        Order::new([term].into(), false).compare(place(left), place(right))
    }

    #[track_caller]
    fn assert_ordered(term: OrderTerm, values: &[Value]) {
        for (at, left) in values.iter().enumerate() {
            for (offset, right) in values[at..].iter().enumerate() {
                let expected = if offset == 0 {
                    Ordering::Equal
                } else {
                    Ordering::Less
                };
                assert_eq!(compare(term, left, right), expected, "{left:?} {right:?}");
                assert_eq!(
                    compare(term, right, left),
                    expected.reverse(),
                    "{right:?} {left:?}"
                );
            }
        }
    }

    #[track_caller]
    fn assert_equal(collation: Collation, texts: &[&str]) {
        for left in texts {
            for right in texts {
                let ordering = compare(ascending(collation), &text(left), &text(right));
                assert_eq!(ordering, Ordering::Equal, "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn storage_classes_stand_one_after_the_other() {
        let values = [
            Null,
            Integer(1),
            Real(2.5),
            text("B"),
            text("a"),
            blob("B"),
            blob("a"),
        ];
        assert_ordered(ascending(Collation::Binary), &values);
    }

    #[test]
    fn nocase_sorts_capital_letters_as_small_ones() {
        assert_equal(Collation::NoCase, &["ab", "AB", "Ab"]);
        let values = ["", "[", "_", "`", "A", "ab", "AC", "b", "Z", "{"].map(text);
        assert_ordered(ascending(Collation::NoCase), &values);
    }

    #[test]
    fn nocase_folds_ascii_only() {
        assert_ordered(ascending(Collation::NoCase), &["É", "é"].map(text));
    }

    #[test]
    fn nocase_compares_only_lengths_behind_a_nul() {
        assert_equal(Collation::NoCase, &["a\0c", "a\0b", "A\0a"]);
        let values = ["a", "a\0", "a\0b", "a\0aa", "a\u{1}"].map(text);
        assert_ordered(ascending(Collation::NoCase), &values);
    }

    #[test]
    fn rtrim_ignores_spaces_at_the_end_and_no_other_white_space() {
        assert_equal(Collation::RTrim, &["a", "a ", "a  "]);
        assert_equal(Collation::RTrim, &["", " "]);
        assert_ordered(
            ascending(Collation::RTrim),
            &["", " a", "a  ", "a\t", "b"].map(text),
        );
    }

    #[test]
    fn collations_do_not_apply_to_blobs() {
        assert_ordered(ascending(Collation::NoCase), &[text("b"), blob("B"), blob("a")]);
        assert_ordered(ascending(Collation::RTrim), &[text("a "), blob("a"), blob("a ")]);
    }

    #[test]
    fn nulls_stand_first_or_last_whatever_the_direction() {
        let ordered = |descending, nulls_last, values: [Value; 4]| {
            let collation = Collation::Binary;
            let term = OrderTerm {
                collation,
                descending,
                nulls_last,
            };
            assert_ordered(term, &values);
        };
        ordered(false, false, [Null, Integer(1), Integer(2), text("x")]);
        ordered(false, true, [Integer(1), Integer(2), text("x"), Null]);
        ordered(true, false, [Null, text("x"), Integer(2), Integer(1)]);
        ordered(true, true, [text("x"), Integer(2), Integer(1), Null]);
    }

    #[test]
    fn a_later_term_decides_between_equal_values_of_an_earlier_one() {
        let descending = OrderTerm {
            descending: true,
            ..ascending(Collation::Binary)
        };
        let order = Order::new([ascending(Collation::NoCase), descending].into(), false);
        let compare = |left: [Value; 2], right: [Value; 2]| {
            let place = |sort| Place { sort, sources: &[] };
            order.compare(place(&left), place(&right))
        };
        let row = |name, number| [text(name), Integer(number)];
        assert_eq!(compare(row("a", 2), row("A", 1)), Ordering::Less);
        assert_eq!(compare(row("a", 2), row("B", 3)), Ordering::Less);
    }

    #[test]
    fn rows_with_equal_sort_keys_are_ordered_by_their_sources() {
        use SourceKey::{Absent, Columns, Rowid};
        let columns = |values: &[Value]| Columns(values.into());
        assert_ascending(&[
            smallvec![Rowid(-1), Rowid(9)],
            smallvec![Rowid(2), Absent],
            smallvec![Rowid(2), Rowid(1)],
            smallvec![Rowid(10), Absent],
            smallvec![columns(&[Integer(2), text("a")]), Absent],
            smallvec![columns(&[Integer(2), text("b")]), Absent],
        ]);
    }

    #[test]
    fn rows_of_several_selects_are_ordered_by_the_columns_of_their_keys_and_then_as_the_selects() {
        use SourceKey::{Absent, Columns, Rowid};
        let columns = |values: &[Value]| Columns(values.into());
        // The first SELECT has two sources, the second has one.
        assert_ascending(&[
            smallvec![Rowid(-1), Rowid(9), Absent],
            smallvec![Rowid(2), Absent, Absent],
            smallvec![Absent, Absent, Rowid(2)],
            smallvec![Rowid(2), Rowid(1), Absent],
            smallvec![Absent, Absent, columns(&[Integer(2), Integer(2)])],
            smallvec![Rowid(3), Absent, Absent],
            smallvec![Absent, Absent, columns(&[text("a"), Null])],
        ]);
    }

    fn assert_ascending(ordered: &[SmallVec<[SourceKey; 1]>]) {
        for descending in [false, true] {
            let order = Order::new([].into(), descending);
            for pair in ordered.windows(2) {
                let [left, right] = [&pair[0], &pair[1]].map(|sources| Place { sort: &[], sources });
                let expected = if descending {
                    Ordering::Greater
                } else {
                    Ordering::Less
                };
                assert_eq!(order.compare(left, right), expected, "{pair:?}");
            }
        }
    }
}
