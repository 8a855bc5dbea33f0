//! Merging of the changes that several commits made to the rows of a table.
//!
//! For each key, an event gives the row before the first commit and the row after the last. If the key of a row changes, the row is
//! deleted under its old key, and new under its new key ([`told`]). So each key occurs once, and the owner of a copy can apply the
//! changes in any order.
//!
//! The copy may be newer than the first of the commits, if its owner has read the table between two of them. So a key that several
//! commits changed is reported even if there is no row before and none after, or the same row.

use std::{collections::HashMap, sync::Arc};

use resqlite_live::{
    Commit, CommitNumber, Image, ROWID, RowChange, RowDetail, RowKey, RowNames, Rows, TableChange, TableName,
    ToldRow, Value as Stored, Watched, told,
};

use super::rows::{Changes, RowEvent, RowState, Unlisted};
use crate::core::{limits, live_value::borrowed, value::Value};

/// Merges the rows of commits into one event.
pub(super) struct Merge<'a> {
    commits: &'a [Commit],
    detail: RowDetail,
    rows_left: usize,
    bytes_left: usize,
}

impl<'a> Merge<'a> {
    pub(super) fn of(commits: &'a [Commit], detail: RowDetail) -> Self {
        Self {
            commits,
            detail,
            rows_left: limits::EVENT_ROWS,
            bytes_left: limits::EVENT_BYTES,
        }
    }

    /// Returns the changes to this table, which at least one of the commits has changed.
    pub(super) fn changes(&mut self, table: &TableName) -> Changes {
        match self.rows(table) {
            Ok(rows) => Changes::Rows(rows),
            Err(unlisted) => Changes::Unlisted(unlisted),
        }
    }

    fn rows(&mut self, table: &TableName) -> Result<Vec<RowEvent>, Unlisted> {
        if self.commits.iter().any(|commit| commit.summary.schema_changed()) {
            return Err(Unlisted::Schema);
        }
        let mut net = Net::default();
        for Commit { number, summary } in self.commits {
            net.commit = *number;
            if let Some(change) = summary.table(table) {
                if !summary.is_exact() {
                    return Err(Unlisted::Many);
                }
                net.add(change, self.detail)?;
            }
        }
        self.take(net)
    }

    /// Takes the rows of a table, if there is room for all of them.
    fn take(&mut self, net: Net<'_>) -> Result<Vec<RowEvent>, Unlisted> {
        let (mut events, mut bytes) = (Vec::new(), 0);
        for event in net.rows.iter().filter_map(|row| row.event(self.detail)) {
            bytes += event.bytes();
            if events.len() == self.rows_left || bytes > self.bytes_left {
                return Err(Unlisted::Many);
            }
            events.push(event);
        }
        self.rows_left -= events.len();
        self.bytes_left -= bytes;
        Ok(events)
    }
}

/// The rows of one table, each key once.
#[derive(Default)]
struct Net<'a> {
    /// The commit whose rows are being added.
    commit: CommitNumber,
    /// The columns of the table in the commits so far.
    names: Option<&'a Arc<RowNames>>,
    rows: Vec<NetRow<'a>>,
    positions: HashMap<RowKey<&'a Stored>, usize>,
}

struct NetRow<'a> {
    names: &'a Arc<RowNames>,
    old: Option<Placed<'a>>,
    new: Option<Placed<'a>>,
    /// The newest image. It has the key even if there is no row before and none after.
    latest: Placed<'a>,
    /// The first commit that changed the row.
    first_commit: CommitNumber,
    /// States that another commit changed the row, too. So the row that the first commit left could
    /// be read.
    was_visible: bool,
}

/// An image, with the columns that it contains.
#[derive(Clone, Copy)]
struct Placed<'a> {
    image: &'a Image,
    watched: &'a Watched,
}

impl<'a> Net<'a> {
    fn add(&mut self, change: &'a TableChange, detail: RowDetail) -> Result<(), Unlisted> {
        let watched = &*change.watched;
        let names = watched.names.as_ref().ok_or(Unlisted::Unknown)?;
        if *self.names.get_or_insert(names) != names {
            // Another process has changed the table, and nobody has noticed that commit yet.
            return Err(Unlisted::Schema);
        }
        if names.key.is_empty() && names.rowid.is_none() {
            return Err(Unlisted::Key);
        }
        let has = |column: u16| watched.images.binary_search(&column).is_ok();
        if !names.needed(detail).all(has) {
            return Err(Unlisted::Unknown);
        }
        let Rows::Only(rows) = &change.rows else {
            return Err(Unlisted::Many);
        };
        rows.iter().try_for_each(|row| self.add_row(row, watched, names))
    }

    fn add_row(
        &mut self,
        row: &'a RowChange,
        watched: &'a Watched,
        names: &'a Arc<RowNames>,
    ) -> Result<(), Unlisted> {
        let placed = |image: Option<&'a Image>| {
            let keyed = |placed: Placed<'a>| placed.key(names).map(|key| (key, placed));
            let image = image.map(|image| keyed(Placed { image, watched }));
            image.map(|keyed| keyed.ok_or(Unlisted::Key)).transpose()
        };
        let (old, new) = (placed(row.before())?, placed(row.after())?);
        for ToldRow { key, old, new } in told(old, new).into_iter().flatten() {
            self.touch(key, names, old, new);
        }
        Ok(())
    }

    fn touch(
        &mut self,
        key: RowKey<&'a Stored>,
        names: &'a Arc<RowNames>,
        old: Option<Placed<'a>>,
        new: Option<Placed<'a>>,
    ) {
        let Some(latest) = new.or(old) else {
            return;
        };
        match self.positions.get(&key) {
            Some(&position) => {
                let row = &mut self.rows[position];
                row.new = new;
                row.latest = latest;
                row.was_visible |= row.first_commit != self.commit;
            }
            None => {
                self.positions.insert(key, self.rows.len());
                self.rows.push(NetRow {
                    names,
                    old,
                    new,
                    latest,
                    first_commit: self.commit,
                    was_visible: false,
                });
            }
        }
    }
}

impl NetRow<'_> {
    /// Returns the event. Returns `None` if the row is as it was before, and no read can have seen
    /// it otherwise.
    fn event(&self, detail: RowDetail) -> Option<RowEvent> {
        if !self.was_visible && self.is_as_before(detail) {
            return None;
        }
        let state = |placed: Option<Placed<'_>>| match (placed, detail) {
            (None, _) => RowState::Absent,
            (Some(_), RowDetail::Keys) => RowState::Present,
            (Some(placed), RowDetail::Images) => RowState::Values(placed.values(&self.names.columns)),
        };
        Some(RowEvent {
            names: Arc::clone(self.names),
            key: self.key(),
            old: state(self.old),
            new: state(self.new),
        })
    }

    fn key(&self) -> RowKey<Value> {
        match self.latest.key(self.names).expect("it was found by its key") {
            RowKey::Columns(values) => RowKey::Columns(values.iter().map(|value| owned(value)).collect()),
            RowKey::Rowid(rowid) => RowKey::Rowid(rowid),
        }
    }

    /// Returns whether the row is as it was before. Without images, a row that exists before and
    /// after may be a different one.
    fn is_as_before(&self, detail: RowDetail) -> bool {
        let (old, new) = match (self.old, self.new) {
            (None, None) => return true,
            (Some(old), Some(new)) if detail == RowDetail::Images => (old, new),
            _ => return false,
        };
        let mut columns = self.names.columns.iter().map(|(column, _)| *column);
        columns.all(|column| old.value(column).is_same(new.value(column)))
    }
}

impl<'a> Placed<'a> {
    fn key(self, names: &RowNames) -> Option<RowKey<&'a Stored>> {
        let declared = names.key.iter().map(|(column, _)| self.value(*column));
        let rowid = names.rowid.as_ref().and_then(|_| match self.value(ROWID) {
            Stored::Integer(rowid) => Some(*rowid),
            _ => None,
        });
        RowKey::of(declared, |value| matches!(value, Stored::Null), rowid)
    }

    fn values(self, columns: &[(u16, Arc<str>)]) -> Box<[Value]> {
        let value = |(column, _): &(u16, Arc<str>)| owned(self.value(*column));
        columns.iter().map(value).collect()
    }

    /// Returns the value of a column that is in the image.
    fn value(self, column: u16) -> &'a Stored {
        let position = self.watched.images.binary_search(&column);
        &self.image[position.expect("the image has every column that is needed")]
    }
}

fn owned(value: &Stored) -> Value {
    borrowed(value).into()
}
