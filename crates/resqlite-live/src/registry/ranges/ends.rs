//! The ends of ranges.

use std::{cmp::Ordering, ops::Bound};

use crate::value::Value;

/// Returns whether a range with this lower end has begun at the value.
pub(super) fn begins_before(lower: &Bound<Value>, value: &Value) -> bool {
    match lower {
        Bound::Unbounded => true,
        Bound::Included(lower) => lower <= value,
        Bound::Excluded(lower) => lower < value,
    }
}

/// Returns whether a range with this upper end has not ended before the value.
pub(super) fn ends_after(upper: &Bound<Value>, value: &Value) -> bool {
    match upper {
        Bound::Unbounded => true,
        Bound::Included(upper) => value <= upper,
        Bound::Excluded(upper) => value < upper,
    }
}

/// Compares two lower ends. The end that lets in more values is the lesser one.
pub(super) fn compare_lower(left: &Bound<Value>, right: &Bound<Value>) -> Ordering {
    match (left, right) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Less,
        (_, Bound::Unbounded) => Ordering::Greater,
        (Bound::Included(left), Bound::Excluded(right)) => left.cmp(right).then(Ordering::Less),
        (Bound::Excluded(left), Bound::Included(right)) => left.cmp(right).then(Ordering::Greater),
        (Bound::Included(left), Bound::Included(right)) | (Bound::Excluded(left), Bound::Excluded(right)) => {
            left.cmp(right)
        }
    }
}

/// Compares two upper ends. The end that lets in more values is the greater one.
pub(super) fn compare_upper(left: &Bound<Value>, right: &Bound<Value>) -> Ordering {
    match (left, right) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Greater,
        (_, Bound::Unbounded) => Ordering::Less,
        (Bound::Included(left), Bound::Excluded(right)) => left.cmp(right).then(Ordering::Greater),
        (Bound::Excluded(left), Bound::Included(right)) => left.cmp(right).then(Ordering::Less),
        (Bound::Included(left), Bound::Included(right)) | (Bound::Excluded(left), Bound::Excluded(right)) => {
            left.cmp(right)
        }
    }
}
