//! The dependencies of a live query, and the reference rule by which a commit affects it.

use crate::{
    affects,
    column_set::Columns,
    filter::Filter,
    image::Image,
    impact::{Impact, Reason, Skip},
    row_change::RowChange,
    summary::{ChangeSummary, TableChange},
    table_name::TableName,
};

/// The part of one table that a live query reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDependency {
    /// The table.
    pub table: TableName,
    /// The columns that are read, that the filter tests, or that can change the order of rows.
    pub columns: Columns,
    /// The filter of the rows. Rows that do not pass the filter cannot change the result.
    pub filter: Option<Filter>,
}

/// The parts of tables that a live query reads. A table may occur more than once: a commit affects the live query if any of these
/// occurrences is affected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dependencies {
    /// It is not known what the live query reads, so every commit affects it.
    pub unknown: bool,
    /// The tables that the live query reads.
    pub tables: Box<[TableDependency]>,
    /// The columns whose images are needed for every changed row to maintain the result: the keys of kept rows, or the columns
    /// that groups are made of.
    pub images: Box<[(TableName, Box<[u16]>)]>,
}

impl Dependencies {
    /// Returns whether the commit affects the live query.
    pub fn impact(&self, summary: &ChangeSummary) -> Impact {
        if let Some(reason) = affects::affects_all(summary) {
            return Impact::Affected(reason);
        }
        if self.unknown {
            return Impact::Affected(Reason::Unknown);
        }
        let changed = self
            .tables
            .iter()
            .filter_map(|read| Some((read, summary.table(&read.table)?)));
        changed
            .map(|(read, change)| read.impact(change))
            .fold(Impact::Skipped(Skip::Table), Impact::or)
    }
}

impl TableDependency {
    /// Returns whether a changed row of the table may change the part of the table that is read.
    pub fn concerns(&self, row: &RowChange, change: &TableChange) -> bool {
        if !affects::changes_columns(&self.columns, row, change) {
            return false;
        }
        let Some(filter) = &self.filter else {
            return true;
        };
        let has_image = |column| change.watched.images.binary_search(&column).is_ok();
        if !filter.columns().all(has_image) {
            return true;
        }
        let passes = |image: &Image| filter.matches(&change.watched.images, image);
        row.images().is_none_or(|mut images| images.any(passes))
    }

    /// Returns whether the change to the table affects the live query.
    pub(crate) fn impact(&self, change: &TableChange) -> Impact {
        let filtered = self.filter.as_ref().and_then(|filter| {
            let rows = affects::rows_with_values(filter.columns(), change)?;
            Some((filter, rows))
        });
        let Some((filter, rows)) = filtered else {
            return affects::impact_by_columns(&self.columns, change);
        };
        let mut skip = Skip::Column;
        for row in rows
            .iter()
            .filter(|row| affects::changes_columns(&self.columns, row, change))
        {
            skip = Skip::Key;
            let passes = |image: &Image| filter.matches(&change.watched.images, image);
            if row.images().is_none_or(|mut images| images.any(passes)) {
                return Impact::Affected(Reason::Rows);
            }
        }
        Impact::Skipped(skip)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{
        Dependencies,
        Impact::{Affected, Skipped},
        Reason, Skip, TableDependency,
    };
    use crate::{
        change_set::ChangeSet,
        column_set::Columns,
        filter::{Conjunct, Filter, Test},
        image::{Image, Watched},
        row_change::RowChange,
        summary::ChangeSummary,
        table_name::TableName,
        value::Value,
    };

    fn name(table: &str) -> TableName {
        TableName::new("main", table)
    }

    fn only(columns: &[u16]) -> Columns {
        Columns::Only(columns.iter().copied().collect())
    }

    /// Returns the dependency of a live query that reads these columns of a table.
    fn reads(table: &str, columns: Columns) -> TableDependency {
        TableDependency {
            table: name(table),
            columns,
            filter: None,
        }
    }

    /// Returns the dependency of a live query that reads the columns 0 and 1 of the rows of `t` whose column 0 has this value.
    fn reads_row(value: i64) -> TableDependency {
        let test = Test::In([Value::Integer(value)].into());
        TableDependency {
            filter: Filter::new([Conjunct { column: 0, test }]),
            ..reads("t", only(&[0, 1]))
        }
    }

    fn on<const N: usize>(tables: [TableDependency; N]) -> Dependencies {
        Dependencies {
            unknown: false,
            tables: tables.into(),
            ..Dependencies::default()
        }
    }

    fn watched(compared: &[u16], images: &[u16]) -> Watched {
        Watched {
            compared: compared.iter().copied().collect(),
            images: images.into(),
            ..Watched::default()
        }
    }

    fn changes(watched: Watched, changes: impl IntoIterator<Item = RowChange>) -> ChangeSummary {
        let watched = Arc::new(watched);
        let mut set = ChangeSet::new();
        for change in changes {
            set.record(&name("t"), &watched, change);
        }
        set.finish()
    }

    /// Changes to `t`, of which columns 0, 1 and 2 are compared and the values of column 0 are kept.
    fn watched_changes<const N: usize>(list: [RowChange; N]) -> ChangeSummary {
        changes(watched(&[0, 1, 2], &[0]), list)
    }

    fn image(value: i64) -> Option<Image> {
        Some([Value::Integer(value)].into())
    }

    fn insert(value: i64) -> RowChange {
        RowChange::Insert { new: image(value) }
    }

    fn delete(value: i64) -> RowChange {
        RowChange::Delete { old: image(value) }
    }

    fn update(columns: &[u16], old: i64, new: i64) -> RowChange {
        RowChange::Update {
            columns: only(columns),
            old: image(old),
            new: image(new),
        }
    }

    #[test]
    fn a_commit_to_another_table_is_skipped() {
        let summary = watched_changes([insert(1)]);
        assert_eq!(
            on([reads("u", Columns::Any)]).impact(&summary),
            Skipped(Skip::Table)
        );
        assert_eq!(on([]).impact(&summary), Skipped(Skip::Table));
    }

    #[test]
    fn a_live_query_with_unknown_dependencies_is_affected_by_every_commit() {
        let unknown = Dependencies {
            unknown: true,
            ..Dependencies::default()
        };
        assert_eq!(
            unknown.impact(&watched_changes([insert(1)])),
            Affected(Reason::Unknown)
        );
        assert_eq!(
            unknown.impact(&ChangeSet::new().finish()),
            Affected(Reason::Unknown)
        );
    }

    // G118
    #[test]
    fn ddl_and_a_change_of_everything_affect_every_live_query() {
        let mut set = ChangeSet::new();
        set.record_schema_changed();
        let schema = set.finish();
        set.record_everything_changed();
        let everything = set.finish();
        for dependencies in [on([]), on([reads_row(1)])] {
            assert_eq!(dependencies.impact(&schema), Affected(Reason::Schema));
            assert_eq!(dependencies.impact(&everything), Affected(Reason::Unknown));
        }
    }

    #[test]
    fn inserts_and_deletes_affect_readers_of_any_column() {
        for change in [insert(1), delete(1)] {
            let summary = watched_changes([change]);
            assert_eq!(
                on([reads("t", only(&[]))]).impact(&summary),
                Affected(Reason::Table)
            );
        }
    }

    // G114
    #[test]
    fn an_update_affects_readers_of_a_changed_column() {
        let summary = watched_changes([update(&[1], 5, 5)]);
        assert_eq!(
            on([reads("t", only(&[0, 1]))]).impact(&summary),
            Affected(Reason::Columns)
        );
        assert_eq!(
            on([reads("t", only(&[0, 2]))]).impact(&summary),
            Skipped(Skip::Column)
        );
    }

    #[test]
    fn an_update_affects_readers_of_a_column_that_was_not_compared() {
        let summary = watched_changes([update(&[1], 5, 5)]);
        assert_eq!(
            on([reads("t", only(&[2, 3]))]).impact(&summary),
            Affected(Reason::Table)
        );
        assert_eq!(
            on([reads("t", Columns::Any)]).impact(&summary),
            Affected(Reason::Table)
        );
    }

    #[test]
    fn an_update_of_any_column_affects_every_reader_of_the_table() {
        let moved = RowChange::Update {
            columns: Columns::Any,
            old: image(1),
            new: image(1),
        };
        let summary = watched_changes([moved]);
        assert_eq!(
            on([reads("t", only(&[]))]).impact(&summary),
            Affected(Reason::Table)
        );
        assert_eq!(on([reads_row(1)]).impact(&summary), Affected(Reason::Rows));
        assert_eq!(on([reads_row(2)]).impact(&summary), Skipped(Skip::Key));
    }

    // G115
    #[test]
    fn rows_that_the_filter_excludes_are_skipped() {
        for change in [insert(1), delete(1), update(&[1], 1, 1)] {
            let summary = watched_changes([insert(7), change]);
            assert_eq!(on([reads_row(1)]).impact(&summary), Affected(Reason::Rows));
            assert_eq!(on([reads_row(2)]).impact(&summary), Skipped(Skip::Key));
        }
    }

    // G115
    #[test]
    fn a_row_that_enters_or_leaves_the_filter_affects() {
        for (old, new) in [(1, 2), (2, 1)] {
            let summary = watched_changes([update(&[0], old, new)]);
            assert_eq!(on([reads_row(1)]).impact(&summary), Affected(Reason::Rows));
        }
    }

    #[test]
    fn a_row_that_passes_the_filter_but_changed_only_in_other_columns_is_skipped() {
        let summary = watched_changes([update(&[2], 1, 1)]);
        assert_eq!(on([reads_row(1)]).impact(&summary), Skipped(Skip::Column));
        let summary = watched_changes([update(&[2], 1, 1), update(&[1], 3, 3)]);
        assert_eq!(on([reads_row(1)]).impact(&summary), Skipped(Skip::Key));
    }

    #[test]
    fn a_row_with_a_read_column_that_was_not_compared_affects_if_it_passes() {
        let summary = changes(watched(&[0], &[0]), [update(&[], 1, 1)]);
        assert_eq!(on([reads_row(1)]).impact(&summary), Affected(Reason::Rows));
        assert_eq!(on([reads_row(2)]).impact(&summary), Skipped(Skip::Key));
    }

    #[test]
    fn a_filter_does_not_apply_if_its_columns_are_not_in_the_images() {
        let summary = changes(watched(&[0, 1, 2], &[]), [RowChange::Insert { new: None }]);
        assert_eq!(on([reads_row(1)]).impact(&summary), Affected(Reason::Table));
        let summary = changes(watched(&[0, 1, 2], &[2]), [update(&[1], 7, 7)]);
        assert_eq!(on([reads_row(1)]).impact(&summary), Affected(Reason::Columns));
        let summary = changes(watched(&[0, 1, 2], &[2]), [update(&[2], 7, 8)]);
        assert_eq!(on([reads_row(1)]).impact(&summary), Skipped(Skip::Column));
    }

    #[test]
    fn the_closest_skip_and_the_first_reason_of_all_tables_are_given() {
        let summary = watched_changes([update(&[1], 1, 1)]);
        let (other, unread) = (reads("u", Columns::Any), reads("t", only(&[2])));
        let all = |tables| on(tables).impact(&summary);
        assert_eq!(all([other.clone(), unread.clone()]), Skipped(Skip::Column));
        assert_eq!(all([reads_row(2), unread.clone()]), Skipped(Skip::Key));
        assert_eq!(all([unread, reads_row(1)]), Affected(Reason::Rows));
        assert_eq!(
            all([reads_row(1), reads("t", only(&[1]))]),
            Affected(Reason::Columns)
        );
    }
}
