//! Decodes one event of the pre-update hook, as far as the interest needs.

use resqlite_live::{ColumnSet, Columns, Image, ROWID, RowChange, Value, Watched};
use resqlite_sqlite::{PreUpdate, RowOperation, ValueRef};

use super::tables::{Facts, Keys};
use crate::core::live_value::owned;

/// Returns whether every column of the event's table is compared.
pub(super) fn compares_all(event: &PreUpdate<'_>, watched: &Watched) -> bool {
    let compared =
        |column: usize| u16::try_from(column).is_ok_and(|column| watched.compared.contains(column));
    !watched.compared.is_empty() && (0..event.column_count()).all(compared)
}

/// Returns the change to the row. Returns `None` if nothing changed, which is only certain if all columns are compared.
pub(super) fn decode(
    event: &PreUpdate<'_>,
    facts: &Facts,
    watched: &Watched,
    all_compared: bool,
) -> Option<RowChange> {
    let Facts { keys, real, .. } = facts;
    let old = || {
        image(keys, watched, event.old_rowid, |column| {
            old_value(event, real, column)
        })
    };
    let new = || image(keys, watched, event.new_rowid, |column| event.new_value(column));
    Some(match event.operation {
        RowOperation::Insert => RowChange::Insert { new: new() },
        // SQLite reports a write into an open BLOB as a delete. The row stays, and its new values are not available.
        RowOperation::Delete if event.blob_column().is_some() => RowChange::Update {
            columns: Columns::Any,
            old: None,
            new: None,
        },
        RowOperation::Delete => RowChange::Delete { old: old() },
        RowOperation::Update => match changed_columns(event, facts, &watched.compared) {
            Columns::Only(changed) if all_compared && changed.is_empty() => return None,
            columns => RowChange::Update {
                columns,
                old: old(),
                new: new(),
            },
        },
    })
}

/// Returns the value of a column before the change. For a column in `real`, this is the value as the column stores it. If the row was
/// written before the column was added, SQLite reports the default as it appears in the schema: `DEFAULT 5` as an INTEGER, even for a
/// REAL column.
pub(crate) fn old_value<'a>(event: &'a PreUpdate<'_>, real: &[u16], column: usize) -> Option<ValueRef<'a>> {
    match event.old_value(column)? {
        ValueRef::Integer(number) if real.iter().any(|&real| usize::from(real) == column) => {
            Some(ValueRef::Real(number as f64))
        }
        value => Some(value),
    }
}

/// Returns the values that are needed. Returns `None` if no values are needed, or if one is not available, as for a VIRTUAL generated
/// column.
fn image<'a>(
    keys: &Keys,
    watched: &Watched,
    rowid: i64,
    value: impl Fn(usize) -> Option<ValueRef<'a>>,
) -> Option<Image> {
    if watched.images.is_empty() || matches!(keys, Keys::Unknown) {
        return None;
    }
    let mut image = Vec::with_capacity(watched.images.len());
    for &column in &watched.images {
        image.push(match column {
            ROWID => Value::Integer(rowid),
            column => owned(value(column.into())?),
        });
    }
    Some(image.into_boxed_slice())
}

/// Finds the compared columns that an UPDATE changed. If no column is compared, no value is read.
fn changed_columns(event: &PreUpdate<'_>, facts: &Facts, compared: &ColumnSet) -> Columns {
    let differs = |column| differs(event, &facts.real, column);
    let moved = match &facts.keys {
        Keys::Rowid => event.old_rowid != event.new_rowid,
        Keys::Columns(_) if compared.is_empty() => true,
        Keys::Columns(columns) => columns.iter().any(|&column| differs(column) != Some(false)),
        Keys::Unknown => true,
    };
    if moved {
        return Columns::Any;
    }
    let (mut changed, mut computed) = (ColumnSet::new(), ColumnSet::new());
    let count = event.column_count();
    for column in compared.iter().take_while(|&column| usize::from(column) < count) {
        match differs(column.into()) {
            Some(true) => changed.insert(column),
            Some(false) => {}
            None => computed.insert(column),
        }
    }
    let computed_anew = || !changed.is_empty() || another_differs(event, facts, compared);
    if !computed.is_empty() && computed_anew() {
        changed.union_with(&computed);
    }
    Columns::Only(changed)
}

/// Returns whether a column that is not compared changed. Columns computed from it may then have changed, too.
fn another_differs(event: &PreUpdate<'_>, facts: &Facts, compared: &ColumnSet) -> bool {
    (0..event.column_count())
        .filter(|&column| !compared.contains(column as u16))
        .any(|column| differs(event, &facts.real, column) == Some(true))
}

/// Returns whether the UPDATE changes the column. Returns `None` for a column that is not stored, but computed from columns of the same
/// row (VIRTUAL generated).
fn differs(event: &PreUpdate<'_>, real: &[u16], column: usize) -> Option<bool> {
    match (old_value(event, real, column), event.new_value(column)) {
        (Some(old), Some(new)) => Some(!old.is_same(new)),
        (None, None) => None,
        _ => Some(true),
    }
}
