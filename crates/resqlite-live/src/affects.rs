//! The rules by which a change affects the readers of a table. [`Dependencies`](crate::Dependencies) applies them to one live
//! query, and the [`Registry`](crate::Registry) to all live queries of one shape at once.

use crate::{
    column_set::{ColumnSet, Columns},
    impact::{Impact, Reason, Skip},
    row_change::RowChange,
    summary::{ChangeSummary, Operations, Rows, TableChange},
};

/// Returns the reason why the commit affects every live query, if it does.
pub(crate) fn affects_all(summary: &ChangeSummary) -> Option<Reason> {
    if summary.everything_changed() {
        Some(Reason::Unknown)
    } else if summary.schema_changed() {
        Some(Reason::Schema)
    } else {
        None
    }
}

/// Returns the impact on a reader of the columns `read` of any row.
pub(crate) fn impact_by_columns(read: &Columns, change: &TableChange) -> Impact {
    let Operations { inserts, deletes, .. } = change.operations;
    if inserts > 0 || deletes > 0 {
        return Impact::Affected(Reason::Table);
    }
    match comparable(read, &change.columns, change) {
        Some((read, changed)) if read.intersects(changed) => Impact::Affected(Reason::Columns),
        Some(_) => Impact::Skipped(Skip::Column),
        None => Impact::Affected(Reason::Table),
    }
}

/// Returns the rows that changed, if they are known and their images have all these columns.
pub(crate) fn rows_with_values(
    mut columns: impl Iterator<Item = u16>,
    change: &TableChange,
) -> Option<&[RowChange]> {
    let Rows::Only(rows) = &change.rows else {
        return None;
    };
    let has_image = |column| change.watched.images.binary_search(&column).is_ok();
    columns.all(has_image).then_some(rows)
}

/// Returns whether the row changed, or may have changed, in one of the columns that are read.
pub(crate) fn changes_columns(read: &Columns, row: &RowChange, change: &TableChange) -> bool {
    let Some(changed) = row.columns() else {
        return true;
    };
    comparable(read, changed, change).is_none_or(|(read, changed)| read.intersects(changed))
}

/// Returns the columns that are read and the columns that changed, if every column that is read was compared.
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
