//! Exact comparison of results.

use resqlite::{Rows, Value, ValueRef};

/// Whether both have the same columns and the same rows in the same order.
pub fn same(left: &Rows, right: &Rows) -> bool {
    left.columns() == right.columns()
        && left.len() == right.len()
        && left
            .iter()
            .zip(right.iter())
            .all(|(left, right)| same_values(left.values(), right.values()))
}

pub fn same_values(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
}

/// Whether the values cannot be told apart.
fn is_same(left: &Value, right: &Value) -> bool {
    ValueRef::from(left).is_same(right.into())
}
