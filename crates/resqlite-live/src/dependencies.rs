//! What a stream depends on, and the plain rule by which a commit concerns it.

use crate::{
    column_set::{ColumnSet, Columns},
    filter::Filter,
    image::Image,
    summary::{ChangeSummary, ChangedRow, Operations, Rows, TableChange},
    table_name::TableName,
};

/// What a stream needs of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDependency {
    /// The table.
    pub table: TableName,
    /// The columns that are read, that are tested by the filter, or that can change the order of rows.
    pub columns: Columns,
    /// Rows that do not pass cannot matter.
    pub filter: Option<Filter>,
}

/// What a stream depends on. A table may occur more than once: any of its places can make a commit matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dependencies {
    /// Any commit concerns the stream: it is not known what it reads.
    pub everything: bool,
    /// The tables that it reads.
    pub tables: Box<[TableDependency]>,
}

/// Why a stream must hear of a commit. Of several reasons that which is first here is given, but for DDL: that is
/// given as such even where any commit concerns the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Everything may have changed, or it is not known what the stream reads.
    Everything,
    /// The schema changed.
    Schema,
    /// Rows came or went in a table that it reads, or nothing more than that the table changed is known.
    Table,
    /// A column that it reads changed.
    Columns,
    /// A row that passes its filter changed, or one of which that cannot be told.
    Rows,
}

/// Why a stream need not hear of a commit: what it took to know, over all of its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    /// None of its tables changed.
    Table,
    /// Only columns changed that it does not read.
    Column,
    /// Only rows changed that its filter excludes.
    Key,
}

impl Dependencies {
    /// Whether the commit concerns the stream, and why, or why not.
    ///
    /// # Errors
    /// The [`Skip`] if it does not.
    pub fn concerned(&self, summary: &ChangeSummary) -> Result<Reason, Skip> {
        if let Some(reason) = unlimited(summary) {
            return Ok(reason);
        }
        if self.everything {
            return Ok(Reason::Everything);
        }
        let mut skip = Skip::Table;
        let mut reason = None;
        for dependency in &self.tables {
            let Some(change) = summary.table(&dependency.table) else {
                continue;
            };
            match dependency.concerned(change) {
                Ok(this) => reason = Some(reason.map_or(this, |first: Reason| first.min(this))),
                Err(this) => skip = skip.max(this),
            }
        }
        reason.ok_or(skip)
    }
}

/// Why the commit concerns every stream.
pub(crate) fn unlimited(summary: &ChangeSummary) -> Option<Reason> {
    if summary.everything_changed() {
        Some(Reason::Everything)
    } else if summary.schema_changed() {
        Some(Reason::Schema)
    } else {
        None
    }
}

impl TableDependency {
    fn concerned(&self, change: &TableChange) -> Result<Reason, Skip> {
        let filtered = self.filter.as_ref().and_then(|filter| {
            let rows = filterable(filter.columns(), change)?;
            Some((filter, rows))
        });
        let Some((filter, rows)) = filtered else {
            return concerned_by_columns(&self.columns, change);
        };
        let mut skip = Skip::Column;
        for row in rows.iter().filter(|row| is_read(&self.columns, row, change)) {
            skip = Skip::Key;
            let passes = |image: &Image| filter.matches(&change.watched.images, image);
            if known_images(row).is_none_or(|mut images| images.any(passes)) {
                return Ok(Reason::Rows);
            }
        }
        Err(skip)
    }
}

/// Whether a change concerns whoever reads these columns of any row.
pub(crate) fn concerned_by_columns(read: &Columns, change: &TableChange) -> Result<Reason, Skip> {
    let Operations { inserts, deletes, .. } = change.operations;
    if inserts > 0 || deletes > 0 {
        return Ok(Reason::Table);
    }
    match comparable(read, &change.columns, change) {
        Some((read, changed)) if read.intersects(changed) => Ok(Reason::Columns),
        Some(_) => Err(Skip::Column),
        None => Ok(Reason::Table),
    }
}

/// The rows that changed, if it is known which and how they look in these columns.
pub(crate) fn filterable(
    mut filtered: impl Iterator<Item = u16>,
    change: &TableChange,
) -> Option<&[ChangedRow]> {
    let Rows::Only(rows) = &change.rows else {
        return None;
    };
    let has_image = |column| change.watched.images.binary_search(&column).is_ok();
    filtered.all(has_image).then_some(rows)
}

/// Whether the row changed, or may have, in one of these columns.
pub(crate) fn is_read(read: &Columns, row: &ChangedRow, change: &TableChange) -> bool {
    let Some(changed) = &row.columns else {
        return true;
    };
    comparable(read, changed, change).is_none_or(|(read, changed)| read.intersects(changed))
}

/// The columns read and those changed, if it is known of all columns read whether they did.
fn comparable<'a>(
    read: &'a Columns,
    changed: &'a Columns,
    change: &TableChange,
) -> Option<(&'a ColumnSet, &'a ColumnSet)> {
    match (read, changed) {
        (Columns::Only(read), Columns::Only(changed)) => read
            .is_subset_of(&change.watched.compared)
            .then_some((read, changed)),
        _ => None,
    }
}

/// The row before and after, as far as there was one; `None` if one of them is not known.
pub(crate) fn known_images(row: &ChangedRow) -> Option<impl Iterator<Item = &Image>> {
    let updated = row.columns.is_some();
    let known = match (&row.old, &row.new) {
        (Some(_), Some(_)) => true,
        (Some(_), None) | (None, Some(_)) => !updated,
        (None, None) => false,
    };
    known.then(|| row.old.iter().chain(&row.new))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Dependencies, Reason, Skip, TableDependency};
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

    /// Somebody who reads these columns of a table.
    fn reads(table: &str, columns: Columns) -> TableDependency {
        TableDependency {
            table: name(table),
            columns,
            filter: None,
        }
    }

    /// Somebody who reads the columns 0 and 1 of the rows of `t` in which column 0 has this value.
    fn reads_row(value: i64) -> TableDependency {
        let test = Test::In([Value::Integer(value)].into());
        TableDependency {
            filter: Filter::new([Conjunct { column: 0, test }]),
            ..reads("t", only(&[0, 1]))
        }
    }

    fn on<const N: usize>(tables: [TableDependency; N]) -> Dependencies {
        Dependencies {
            everything: false,
            tables: tables.into(),
        }
    }

    fn watched(compared: &[u16], images: &[u16]) -> Watched {
        Watched {
            compared: compared.iter().copied().collect(),
            images: images.into(),
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
            on([reads("u", Columns::Any)]).concerned(&summary),
            Err(Skip::Table)
        );
        assert_eq!(on([]).concerned(&summary), Err(Skip::Table));
    }

    #[test]
    fn who_depends_on_everything_hears_of_any_commit() {
        let everything = Dependencies {
            everything: true,
            ..Dependencies::default()
        };
        assert_eq!(
            everything.concerned(&watched_changes([insert(1)])),
            Ok(Reason::Everything)
        );
        assert_eq!(
            everything.concerned(&ChangeSet::new().finish()),
            Ok(Reason::Everything)
        );
    }

    #[test]
    fn ddl_and_a_change_of_everything_concern_everybody() {
        let mut set = ChangeSet::new();
        set.record_schema_changed();
        let schema = set.finish();
        set.record_everything_changed();
        let everything = set.finish();
        for dependencies in [on([]), on([reads_row(1)])] {
            assert_eq!(dependencies.concerned(&schema), Ok(Reason::Schema));
            assert_eq!(dependencies.concerned(&everything), Ok(Reason::Everything));
        }
    }

    #[test]
    fn inserts_and_deletes_concern_who_reads_any_column() {
        for change in [insert(1), delete(1)] {
            let summary = watched_changes([change]);
            assert_eq!(on([reads("t", only(&[]))]).concerned(&summary), Ok(Reason::Table));
        }
    }

    #[test]
    fn an_update_concerns_who_reads_a_changed_column() {
        let summary = watched_changes([update(&[1], 5, 5)]);
        assert_eq!(
            on([reads("t", only(&[0, 1]))]).concerned(&summary),
            Ok(Reason::Columns)
        );
        assert_eq!(
            on([reads("t", only(&[0, 2]))]).concerned(&summary),
            Err(Skip::Column)
        );
    }

    #[test]
    fn an_update_concerns_who_reads_a_column_that_was_not_compared() {
        let summary = watched_changes([update(&[1], 5, 5)]);
        assert_eq!(
            on([reads("t", only(&[2, 3]))]).concerned(&summary),
            Ok(Reason::Table)
        );
        assert_eq!(
            on([reads("t", Columns::Any)]).concerned(&summary),
            Ok(Reason::Table)
        );
    }

    #[test]
    fn an_update_of_any_column_concerns_whoever_reads_the_table() {
        let moved = RowChange::Update {
            columns: Columns::Any,
            old: image(1),
            new: image(1),
        };
        let summary = watched_changes([moved]);
        assert_eq!(on([reads("t", only(&[]))]).concerned(&summary), Ok(Reason::Table));
        assert_eq!(on([reads_row(1)]).concerned(&summary), Ok(Reason::Rows));
        assert_eq!(on([reads_row(2)]).concerned(&summary), Err(Skip::Key));
    }

    #[test]
    fn a_filter_leaves_out_other_rows() {
        for change in [insert(1), delete(1), update(&[1], 1, 1)] {
            let summary = watched_changes([insert(7), change]);
            assert_eq!(on([reads_row(1)]).concerned(&summary), Ok(Reason::Rows));
            assert_eq!(on([reads_row(2)]).concerned(&summary), Err(Skip::Key));
        }
    }

    #[test]
    fn a_row_that_enters_or_leaves_the_filter_matters() {
        for (old, new) in [(1, 2), (2, 1)] {
            let summary = watched_changes([update(&[0], old, new)]);
            assert_eq!(on([reads_row(1)]).concerned(&summary), Ok(Reason::Rows));
        }
    }

    #[test]
    fn a_row_that_passes_the_filter_but_changed_in_other_columns_does_not_matter() {
        let summary = watched_changes([update(&[2], 1, 1)]);
        assert_eq!(on([reads_row(1)]).concerned(&summary), Err(Skip::Column));
        let summary = watched_changes([update(&[2], 1, 1), update(&[1], 3, 3)]);
        assert_eq!(on([reads_row(1)]).concerned(&summary), Err(Skip::Key));
    }

    #[test]
    fn a_row_of_which_a_column_that_is_read_was_not_compared_matters_if_it_passes() {
        let summary = changes(watched(&[0], &[0]), [update(&[], 1, 1)]);
        assert_eq!(on([reads_row(1)]).concerned(&summary), Ok(Reason::Rows));
        assert_eq!(on([reads_row(2)]).concerned(&summary), Err(Skip::Key));
    }

    #[test]
    fn a_filter_does_not_apply_where_its_columns_were_not_kept() {
        let summary = changes(watched(&[0, 1, 2], &[]), [RowChange::Insert { new: None }]);
        assert_eq!(on([reads_row(1)]).concerned(&summary), Ok(Reason::Table));
        let summary = changes(watched(&[0, 1, 2], &[2]), [update(&[1], 7, 7)]);
        assert_eq!(on([reads_row(1)]).concerned(&summary), Ok(Reason::Columns));
        let summary = changes(watched(&[0, 1, 2], &[2]), [update(&[2], 7, 8)]);
        assert_eq!(on([reads_row(1)]).concerned(&summary), Err(Skip::Column));
    }

    #[test]
    fn the_deepest_skip_and_the_first_reason_of_all_tables_count() {
        let summary = watched_changes([update(&[1], 1, 1)]);
        let (other, unread) = (reads("u", Columns::Any), reads("t", only(&[2])));
        let all = |tables| on(tables).concerned(&summary);
        assert_eq!(all([other.clone(), unread.clone()]), Err(Skip::Column));
        assert_eq!(all([reads_row(2), unread.clone()]), Err(Skip::Key));
        assert_eq!(all([unread, reads_row(1)]), Ok(Reason::Rows));
        assert_eq!(all([reads_row(1), reads("t", only(&[1]))]), Ok(Reason::Columns));
    }
}
