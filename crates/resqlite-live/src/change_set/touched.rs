//! What has changed so far in one table.

use crate::{
    column_set::Columns,
    key::{Key, Keys},
    summary::{Operations, TableChange},
    table_name::TableName,
};

/// One table of a change set.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) name: TableName,
    /// The newest mark when the table first changed.
    pub(super) first_at: u64,
    /// The newest mark when its extent was last saved, or when it first changed.
    pub(super) saved_at: u64,
    /// Each once, in order of first change. Kept when any key may have changed, for a rollback can undo that.
    pub(super) keys: Vec<Key>,
    pub(super) extent: Extent,
}

/// How far the change of a table goes; small enough to be saved at every mark.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) operations: Operations,
    columns: Columns,
    /// How many keys there are.
    pub(super) keys: usize,
    /// Whether rows other than those of the keys may have changed.
    pub(super) any_key: bool,
}

impl Touched {
    pub(super) fn new(name: TableName, now: u64) -> Self {
        let extent = Extent {
            operations: Operations::default(),
            columns: Columns::none(),
            keys: 0,
            any_key: false,
        };
        Self {
            name,
            first_at: now,
            saved_at: now,
            keys: Vec::new(),
            extent,
        }
    }

    pub(super) fn into_change(self) -> (TableName, TableChange) {
        let Extent {
            operations,
            columns,
            any_key,
            ..
        } = self.extent;
        let keys = if any_key {
            Keys::Any
        } else {
            Keys::Only(self.keys.into_boxed_slice())
        };
        (
            self.name,
            TableChange {
                operations,
                columns,
                keys,
            },
        )
    }
}

impl Extent {
    /// Adds columns that an UPDATE changed; `None` stands for any.
    pub(super) fn add_columns(&mut self, columns: Option<Columns>) {
        self.columns.union_with(columns.unwrap_or(Columns::Any));
    }
}
