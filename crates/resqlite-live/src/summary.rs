//! What one commit changed.

use crate::{
    column_set::Columns,
    key::{Key, Keys},
    table_name::TableName,
};

/// Rows changed, by operation. Where a summary had to guess these are upper bounds. `INSERT OR REPLACE` counts
/// as a delete and an insert where it pushes a row out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operations {
    /// Rows inserted.
    pub inserts: u64,
    /// Rows updated, without those that an UPDATE left as they were.
    pub updates: u64,
    /// Rows deleted.
    pub deletes: u64,
}

/// What a commit changed in one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableChange {
    /// How many rows, by operation.
    pub operations: Operations,
    /// Columns that UPDATEs changed. An INSERT or DELETE concerns all columns and adds none here: see
    /// `operations`.
    pub columns: Columns,
    /// The rows, under the keys that they had before and have after.
    pub keys: Keys,
}

/// Stands for whatever may have happened to a table.
static ANYTHING: TableChange = TableChange {
    operations: Operations {
        inserts: u64::MAX,
        updates: u64::MAX,
        deletes: u64::MAX,
    },
    columns: Columns::Any,
    keys: Keys::Any,
};

/// What one commit changed: never less than it did, sometimes more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSummary {
    /// Sorted by name.
    tables: Box<[(TableName, TableChange)]>,
    schema_changed: bool,
    everything_changed: bool,
}

impl ChangeSummary {
    pub(crate) fn new(
        mut tables: Vec<(TableName, TableChange)>,
        schema_changed: bool,
        everything_changed: bool,
    ) -> Self {
        tables.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Self {
            tables: tables.into_boxed_slice(),
            schema_changed,
            everything_changed,
        }
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && !self.is_unlimited()
    }

    /// Whether the commit changed the schema (DDL).
    pub fn schema_changed(&self) -> bool {
        self.schema_changed
    }

    /// Whether anything in any table may have changed, its keys included (VACUUM, a foreign writer, a bound).
    pub fn everything_changed(&self) -> bool {
        self.everything_changed
    }

    /// Whether a query that reads the table can have another result now.
    pub fn touches(&self, table: &TableName) -> bool {
        self.table(table).is_some()
    }

    /// What may have happened to the table; `None`: nothing.
    ///
    /// After DDL, as after a change of everything, that is anything for every table: a table can be gone or be
    /// another one, and the columns recorded before may have other indexes now.
    pub fn table(&self, table: &TableName) -> Option<&TableChange> {
        if self.is_unlimited() {
            return Some(&ANYTHING);
        }
        let position = self.tables.binary_search_by(|(name, _)| name.cmp(table)).ok()?;
        Some(&self.tables[position].1)
    }

    /// The tables whose rows changed, by name. Not all that happened where
    /// [`schema_changed`](Self::schema_changed) or [`everything_changed`](Self::everything_changed).
    pub fn tables(&self) -> impl ExactSizeIterator<Item = (&TableName, &TableChange)> {
        self.tables.iter().map(|(name, change)| (name, change))
    }

    /// Approximate bytes that the summary takes. Names are shared and not counted.
    pub fn weight(&self) -> usize {
        let held: usize = self.tables.iter().map(|(_, change)| change.heap_bytes()).sum();
        size_of::<Self>() + size_of_val(&*self.tables) + held
    }

    fn is_unlimited(&self) -> bool {
        self.schema_changed || self.everything_changed
    }
}

impl TableChange {
    fn heap_bytes(&self) -> usize {
        let keys = match &self.keys {
            Keys::Only(keys) => keys.iter().map(Key::weight).sum(),
            Keys::Any => 0,
        };
        keys + self.columns.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangeSummary, Operations};
    use crate::{
        change_set::ChangeSet,
        column_set::{ColumnSet, Columns},
        key::{Key, Keys},
        row_change::RowChange,
        table_name::TableName,
        value::Value,
    };

    fn name(table: &str) -> TableName {
        TableName::new("main", table)
    }

    fn insert(rowid: i64) -> RowChange {
        RowChange::Insert {
            key: Some(Key::Rowid(rowid)),
        }
    }

    fn summary(record: impl FnOnce(&mut ChangeSet)) -> ChangeSummary {
        let mut changes = ChangeSet::new();
        record(&mut changes);
        changes.finish()
    }

    #[test]
    fn a_table_that_did_not_change_is_not_touched() {
        let summary = summary(|changes| changes.record(&name("a"), insert(1)));
        assert!(summary.touches(&name("a")));
        assert!(!summary.touches(&name("b")));
        assert!(!summary.touches(&TableName::new("temp", "a")));
        assert_eq!(summary.table(&name("b")), None);
    }

    #[test]
    fn tables_are_found_and_listed_by_name_whatever_the_order_of_change() {
        let summary = summary(|changes| {
            for (rows, table) in (1..).zip(["c", "a", "b"]) {
                (0..rows).for_each(|rowid| changes.record(&name(table), insert(rowid)));
            }
        });
        let listed: Vec<_> = summary
            .tables()
            .map(|(name, change)| (name.table(), change.operations.inserts))
            .collect();
        assert_eq!(listed, [("a", 2), ("b", 3), ("c", 1)]);
        assert_eq!(summary.table(&name("c")).unwrap().operations.inserts, 1);
    }

    #[test]
    fn after_ddl_anything_may_have_happened_to_any_table() {
        let summary = summary(|changes| {
            changes.record(&name("a"), insert(1));
            changes.record_schema_changed();
        });
        for table in ["a", "b"] {
            let change = summary.table(&name(table)).unwrap();
            assert_eq!((&change.columns, &change.keys), (&Columns::Any, &Keys::Any));
        }
        assert!(summary.schema_changed() && !summary.everything_changed());
        assert_eq!(summary.tables().len(), 1);
    }

    #[test]
    fn a_change_of_everything_touches_every_table_and_lists_none() {
        let summary = summary(|changes| {
            changes.record(&name("a"), insert(1));
            changes.record_everything_changed();
        });
        assert!(summary.everything_changed() && !summary.schema_changed());
        assert_eq!(summary.table(&name("b")).unwrap().keys, Keys::Any);
        assert_eq!(summary.tables().len(), 0);
    }

    #[test]
    fn only_a_commit_without_any_change_is_empty() {
        assert!(summary(|_| {}).is_empty());
        assert!(!summary(|changes| changes.record(&name("a"), insert(1))).is_empty());
        assert!(!summary(ChangeSet::record_schema_changed).is_empty());
        assert!(!summary(ChangeSet::record_everything_changed).is_empty());
    }

    #[test]
    fn a_summary_weighs_what_its_keys_and_columns_hold() {
        let wide_key = || Some(Key::Columns([Value::Blob(vec![7; 10_000].into())].into()));
        let insert_wide = RowChange::Insert { key: wide_key() };
        let columns: ColumnSet = [1_999].into_iter().collect();
        let set_bytes = columns.heap_bytes();
        let update = |columns| RowChange::Update {
            columns,
            old: Some(Key::Rowid(1)),
            new: Some(Key::Rowid(1)),
        };

        let light =
            summary(|changes| changes.record(&name("a"), update(Columns::Only([1].into_iter().collect()))));
        let wide = summary(|changes| changes.record(&name("a"), update(Columns::Only(columns))));
        let heavy = summary(|changes| changes.record(&name("a"), insert_wide));
        assert_eq!(wide.weight(), light.weight() + set_bytes);
        assert!((10_000..11_000).contains(&heavy.weight()), "{}", heavy.weight());
    }

    #[test]
    fn operations_are_counted_by_kind() {
        let summary = summary(|changes| {
            let table = name("a");
            changes.record(&table, insert(1));
            changes.record(&table, insert(2));
            changes.record(
                &table,
                RowChange::Update {
                    columns: Columns::Any,
                    old: None,
                    new: None,
                },
            );
            changes.record(
                &table,
                RowChange::Delete {
                    key: Some(Key::Rowid(1)),
                },
            );
        });
        let operations = Operations {
            inserts: 2,
            updates: 1,
            deletes: 1,
        };
        assert_eq!(summary.table(&name("a")).unwrap().operations, operations);
    }

    #[test]
    fn summaries_can_be_shared_between_threads() {
        fn assert_shareable<T: Send + Sync + 'static>() {}
        assert_shareable::<ChangeSummary>();
        assert_shareable::<crate::CommitLog>();
    }
}
