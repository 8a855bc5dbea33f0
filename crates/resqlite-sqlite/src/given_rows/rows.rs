//! The source of the rows.

use crate::value::ValueRef;

/// Rows that a table of [`GivenRows`](crate::GivenRows) shows. A panic in one of these methods becomes the error of the
/// statement.
pub trait Rows {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Returns whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rowid of a row. `None` if it is not known: a statement that asks for it fails.
    fn rowid(&self, row: usize) -> Option<i64>;

    /// A value as SQLite would read it from the table that these rows stand for. `None` if it is not known: a statement that
    /// asks for it fails. SQLite copies the values that it asks for, and no others.
    fn value(&self, row: usize, column: usize) -> Option<ValueRef<'_>>;
}
