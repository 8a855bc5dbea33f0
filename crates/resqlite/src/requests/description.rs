//! The description of a statement, which is made without running it.

use crate::rows::Column;

/// The description of a statement: see [`Database::describe`](crate::Database::describe).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The statement only reads, so `select` accepts it.
    pub read_only: bool,
    /// The columns of its rows; empty if the statement returns no rows.
    pub columns: Vec<Column>,
    /// The name of each parameter, with its prefix; `None` for a plain `?`, and for a number that is left out.
    pub parameters: Vec<Option<String>>,
}
