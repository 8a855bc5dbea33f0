//! The changes to one table.

use std::sync::Arc;

use crate::{
    column_set::Columns,
    image::Watched,
    row_change::RowChange,
    summary::{Operations, Rows, TableChange},
    table_name::TableName,
};

/// One table of a change set.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) name: TableName,
    pub(super) watched: Arc<Watched>,
    /// The newest mark when the table first changed.
    pub(super) first_at: u64,
    /// The newest mark when its extent was last saved, or when it first changed.
    pub(super) saved_at: u64,
    /// The rows in the order of their changes. They are kept even if `any_row` is set, because a rollback can undo that flag.
    pub(super) rows: Vec<RowChange>,
    pub(super) extent: Extent,
}

/// Everything about the changes to a table except the rows. It is small enough to be saved at every mark.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) operations: Operations,
    pub(super) columns: Columns,
    /// The number of rows.
    pub(super) rows: usize,
    /// True if any other row may have changed.
    pub(super) any_row: bool,
}

impl Touched {
    pub(super) fn new(name: TableName, watched: Arc<Watched>, now: u64) -> Self {
        let extent = Extent {
            operations: Operations::default(),
            columns: Columns::none(),
            rows: 0,
            any_row: watched.images.is_empty(),
        };
        Self {
            name,
            watched,
            first_at: now,
            saved_at: now,
            rows: Vec::new(),
            extent,
        }
    }

    /// Returns whether the rows here were decoded as `watched` says.
    pub(super) fn is_decoded_as(&self, watched: &Arc<Watched>) -> bool {
        Arc::ptr_eq(&self.watched, watched) || self.watched == *watched
    }

    pub(super) fn into_change(self) -> (TableName, TableChange) {
        let Extent {
            operations,
            columns,
            any_row,
            ..
        } = self.extent;
        let rows = if any_row {
            Rows::Any
        } else {
            Rows::Only(self.rows.into_boxed_slice())
        };
        let change = TableChange {
            operations,
            watched: self.watched,
            columns,
            rows,
        };
        (self.name, change)
    }
}
