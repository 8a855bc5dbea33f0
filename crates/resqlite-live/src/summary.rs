//! The changes of one commit.

use std::sync::{Arc, LazyLock};

use crate::{column_set::Columns, image::Watched, row_change::RowChange, table_name::TableName};

/// The numbers of changed rows, by operation. They are upper bounds if a summary over-approximates. An
/// `INSERT OR REPLACE` that replaces a row counts as a delete and an insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operations {
    /// Rows inserted.
    pub inserts: u64,
    /// Rows updated, without those that an UPDATE is known to have left as they were.
    pub updates: u64,
    /// Rows deleted.
    pub deletes: u64,
}

/// The changes of a commit to one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableChange {
    /// The number of changed rows, by operation.
    pub operations: Operations,
    /// The part of the rows that was decoded: the scope of `columns` and `rows`.
    pub watched: Arc<Watched>,
    /// The compared columns that UPDATEs changed. Any other column may have changed too. An INSERT or DELETE
    /// changes all columns and adds none here: see `operations`.
    pub columns: Columns,
    /// The rows that changed.
    pub rows: Rows,
}

/// The rows of a table that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// At most these rows changed. They are in the order of their changes, so a row that changed twice is here twice.
    /// Every image is known.
    Only(Box<[RowChange]>),
    /// Any row may have changed: no images were needed, an image is not known, or a bound was reached.
    Any,
}

/// Any change to a table.
static ANYTHING: LazyLock<TableChange> = LazyLock::new(|| TableChange {
    operations: Operations {
        inserts: u64::MAX,
        updates: u64::MAX,
        deletes: u64::MAX,
    },
    watched: Arc::clone(Watched::nothing()),
    columns: Columns::Any,
    rows: Rows::Any,
});

/// The changes of one commit, over-approximated: never less than what the commit changed, sometimes more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSummary {
    /// The changes by table, sorted by the name of the table.
    tables: Box<[(TableName, TableChange)]>,
    schema_changed: bool,
    everything_changed: bool,
    is_external: bool,
    /// See [`is_exact`](Self::is_exact).
    pub(crate) is_exact: bool,
}

impl ChangeSummary {
    /// Makes the summary of an external commit. Nothing more is known of such a commit than that it happened.
    pub fn of_external_commit() -> Self {
        Self {
            is_external: true,
            ..Self::new(Vec::new(), false, true)
        }
    }

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
            is_external: false,
            is_exact: true,
        }
    }

    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && !self.is_unlimited()
    }

    /// Returns whether the commit changed the schema (DDL).
    pub fn schema_changed(&self) -> bool {
        self.schema_changed
    }

    /// Returns whether anything in any table may have changed, rowids included (VACUUM, an external commit, a bound).
    pub fn everything_changed(&self) -> bool {
        self.everything_changed
    }

    /// Returns whether another process, or another copy of SQLite in this one, made the commit.
    pub fn is_external(&self) -> bool {
        self.is_external
    }

    /// Returns whether all listed changes happened; otherwise some of them may have been rolled back.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The change to the table, or `None` if it did not change.
    ///
    /// After DDL, as after a change of everything, every table may have changed in any way: its name may belong to no
    /// table or to another one, and the columns recorded before may have other indexes now.
    pub fn table(&self, table: &TableName) -> Option<&TableChange> {
        if self.is_unlimited() {
            return Some(&ANYTHING);
        }
        let position = self.tables.binary_search_by(|(name, _)| name.cmp(table)).ok()?;
        Some(&self.tables[position].1)
    }

    /// The tables whose rows are known to have changed, by name. There may be more after
    /// [`schema_changed`](Self::schema_changed) or [`everything_changed`](Self::everything_changed).
    pub fn tables(&self) -> impl ExactSizeIterator<Item = (&TableName, &TableChange)> {
        self.tables.iter().map(|(name, change)| (name, change))
    }

    /// Approximate bytes of the summary. Names are shared and not counted.
    pub fn weight(&self) -> usize {
        let held: usize = self.tables.iter().map(|(_, change)| change.heap_bytes()).sum();
        size_of::<Self>() + size_of_val(&*self.tables) + held
    }

    fn is_unlimited(&self) -> bool {
        self.schema_changed || self.everything_changed
    }
}

impl TableChange {
    /// Returns the bytes on the heap. This counts `watched`, although it is shared: if needs change often, only the log
    /// still holds it.
    fn heap_bytes(&self) -> usize {
        let rows = match &self.rows {
            Rows::Only(rows) => rows.iter().map(RowChange::weight).sum(),
            Rows::Any => 0,
        };
        rows + self.columns.heap_bytes() + self.watched.weight()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ChangeSummary, Operations, Rows};
    use crate::{
        change_set::ChangeSet,
        column_set::{ColumnSet, Columns},
        image::Watched,
        row_change::RowChange,
        table_name::TableName,
        value::Value,
    };

    fn name(table: &str) -> TableName {
        TableName::new("main", table)
    }

    fn insert(changes: &mut ChangeSet, table: &str) {
        changes.record(&name(table), Watched::nothing(), RowChange::Insert { new: None });
    }

    fn summary(record: impl FnOnce(&mut ChangeSet)) -> ChangeSummary {
        let mut changes = ChangeSet::new();
        record(&mut changes);
        changes.finish()
    }

    #[test]
    fn a_table_that_did_not_change_is_not_touched() {
        let summary = summary(|changes| insert(changes, "a"));
        assert!(summary.table(&name("a")).is_some());
        assert!(summary.table(&name("b")).is_none());
        assert!(summary.table(&TableName::new("temp", "a")).is_none());
        assert_eq!(summary.table(&name("b")), None);
    }

    #[test]
    fn tables_are_found_and_listed_by_name_in_any_order_of_changes() {
        let summary = summary(|changes| {
            for (rows, table) in (1..).zip(["c", "a", "b"]) {
                (0..rows).for_each(|_| insert(changes, table));
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
    fn after_ddl_any_table_may_have_changed_in_any_way() {
        let summary = summary(|changes| {
            insert(changes, "a");
            changes.record_schema_changed();
        });
        for table in ["a", "b"] {
            let change = summary.table(&name(table)).unwrap();
            assert_eq!((&change.columns, &change.rows), (&Columns::Any, &Rows::Any));
        }
        assert!(summary.schema_changed() && !summary.everything_changed());
        assert_eq!(summary.tables().len(), 1);
    }

    #[test]
    fn a_change_of_everything_touches_every_table_and_lists_none() {
        let summary = summary(|changes| {
            insert(changes, "a");
            changes.record_everything_changed();
        });
        assert!(summary.everything_changed() && !summary.schema_changed());
        assert_eq!(summary.table(&name("b")).unwrap().rows, Rows::Any);
        assert_eq!(summary.tables().len(), 0);
    }

    #[test]
    fn only_a_commit_without_any_change_is_empty() {
        assert!(summary(|_| {}).is_empty());
        assert!(!summary(|changes| insert(changes, "a")).is_empty());
        assert!(!summary(ChangeSet::record_schema_changed).is_empty());
        assert!(!summary(ChangeSet::record_everything_changed).is_empty());
    }

    #[test]
    fn the_weight_of_a_summary_includes_its_images() {
        let watched = Arc::new(Watched {
            images: [0].into(),
            ..Watched::default()
        });
        let blob = |bytes: usize| Some([Value::Blob(vec![7; bytes].into())].into());
        let weight = |change| summary(|changes| changes.record(&name("a"), &watched, change)).weight();
        let light = weight(RowChange::Insert { new: blob(0) });
        assert_eq!(weight(RowChange::Insert { new: blob(10_000) }), light + 10_000);
        assert_eq!(weight(RowChange::Delete { old: blob(10_000) }), light + 10_000);
        let update = RowChange::Update {
            columns: Columns::Any,
            old: blob(3_000),
            new: blob(4_000),
        };
        assert!((7_000..8_000).contains(&(weight(update) - light)));
    }

    #[test]
    fn the_weight_of_a_summary_includes_columns_and_needs() {
        let wide: ColumnSet = [1_999].into_iter().collect();
        let watched = |compared: &ColumnSet| {
            Arc::new(Watched {
                compared: compared.clone(),
                ..Watched::default()
            })
        };
        let weight = |watched: &Arc<Watched>, columns| {
            let update = RowChange::Update {
                columns: Columns::Only(columns),
                old: None,
                new: None,
            };
            summary(|changes| changes.record(&name("a"), watched, update)).weight()
        };
        let light = weight(&watched(&ColumnSet::new()), ColumnSet::new());
        let needed = weight(&watched(&wide), ColumnSet::new());
        assert_eq!(needed, light + wide.heap_bytes());
        assert_eq!(weight(&watched(&wide), wide.clone()), needed + wide.heap_bytes());
    }

    #[test]
    fn operations_are_counted_by_kind() {
        let summary = summary(|changes| {
            insert(changes, "a");
            insert(changes, "a");
            for change in [
                RowChange::Update {
                    columns: Columns::Any,
                    old: None,
                    new: None,
                },
                RowChange::Delete { old: None },
            ] {
                changes.record(&name("a"), Watched::nothing(), change);
            }
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
