//! The rules by which a change affects the readers of a table. [`Dependencies`](crate::Dependencies) applies them to one
//! live query, the [`Registry`](crate::Registry) to all of one shape at once.

use crate::{
    column_set::{ColumnSet, Columns},
    image::Image,
    summary::{ChangeSummary, ChangedRow, Operations, Rows, TableChange},
    verdict::{Reason, Skip, Verdict},
};

/// Why the commit affects every live query, if it does.
pub(crate) fn affects_all(summary: &ChangeSummary) -> Option<Reason> {
    if summary.everything_changed() {
        Some(Reason::Unknown)
    } else if summary.schema_changed() {
        Some(Reason::Schema)
    } else {
        None
    }
}

/// The verdict on a reader of these columns of any row.
pub(crate) fn verdict_by_columns(read: &Columns, change: &TableChange) -> Verdict {
    let Operations { inserts, deletes, .. } = change.operations;
    if inserts > 0 || deletes > 0 {
        return Verdict::Affected(Reason::Table);
    }
    match comparable(read, &change.columns, change) {
        Some((read, changed)) if read.intersects(changed) => Verdict::Affected(Reason::Columns),
        Some(_) => Verdict::Skipped(Skip::Column),
        None => Verdict::Affected(Reason::Table),
    }
}

/// The rows that changed, if they are known and their images have all these columns.
pub(crate) fn rows_with_values(
    mut columns: impl Iterator<Item = u16>,
    change: &TableChange,
) -> Option<&[ChangedRow]> {
    let Rows::Only(rows) = &change.rows else {
        return None;
    };
    let has_image = |column| change.watched.images.binary_search(&column).is_ok();
    columns.all(has_image).then_some(rows)
}

/// Whether the row changed, or may have, in one of the columns that are read.
pub(crate) fn changes_columns(read: &Columns, row: &ChangedRow, change: &TableChange) -> bool {
    let Some(changed) = &row.columns else {
        return true;
    };
    comparable(read, changed, change).is_none_or(|(read, changed)| read.intersects(changed))
}

/// The columns read and those changed, if every column read was compared.
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

/// The images of the row before and after the change, those that exist; `None` if one of them is not known.
pub(crate) fn known_images(row: &ChangedRow) -> Option<impl Iterator<Item = &Image>> {
    let updated = row.columns.is_some();
    let known = match (&row.old, &row.new) {
        (Some(_), Some(_)) => true,
        (Some(_), None) | (None, Some(_)) => !updated,
        (None, None) => false,
    };
    known.then(|| row.old.iter().chain(&row.new))
}
