//! Records what the open transaction changes, from SQLite's pre-update hook, decoded as far as the interest needs.

use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::Arc};

use resqlite_live::{ChangeSet, Columns, CommitNumber, Interest, Mark, RowChange, TableName, Watched};
use resqlite_sqlite::{Connection, PreUpdate};

use super::{
    decode::{compares_all, decode},
    log::Commits,
    tables::{Facts, Tables, read_tables},
};
use crate::{
    core::{commit_id::CommitId, error::Result, profile},
    guard::effects::Unreported,
};

/// Records the changes on the writer's connection. It is shared with the hook, on one thread only.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Rc<RefCell<State>>);

/// Receives each row that the open transaction changes, and is told what is undone. It may read from the connection, but not write.
pub(crate) trait RowSink {
    /// Notes that a transaction begins, or has been rolled back.
    fn clear(&mut self);
    /// Reads the tables, unless they are known. Called when a statement is about to write.
    fn know_tables(&mut self, connection: &Connection) -> Result<()>;
    /// Notes that the tables may be different now.
    fn forget_tables(&mut self);
    /// Notes that a row changes.
    fn row(&mut self, event: &PreUpdate<'_>);
    /// Notes a point to which the transaction may be undone.
    fn mark(&mut self, mark: Mark);
    /// Notes that SQLite has undone everything after the mark. The mark stays valid.
    fn roll_back_to(&mut self, mark: Mark);
}

#[derive(Default)]
struct State {
    /// States that the hook is installed.
    records_rows: bool,
    changes: ChangeSet,
    interest: Arc<Interest>,
    /// The tables; empty if they must be read before the next write.
    tables: Tables,
    /// The savepoints that statements of the open transaction have opened, by name, the outermost first.
    savepoints: Vec<(String, Mark)>,
    /// States that the open transaction has changed the schema, so undoing part of the transaction may bring other tables back.
    schema_touched: bool,
    /// The table of the last event. Rows of one table usually follow each other.
    latest: Option<Latest>,
    /// For each table whose rows commit events list: the columns that are decoded.
    watched: HashMap<TableName, Arc<Watched>>,
    /// Another receiver that must see every row.
    sink: Option<Rc<RefCell<dyn RowSink>>>,
}

struct Latest {
    schema: String,
    table: String,
    facts: Rc<Facts>,
    watched: Arc<Watched>,
    /// States that every column is compared, so an UPDATE that changed no compared column changed
    /// nothing.
    all_compared: bool,
}

impl Recorder {
    /// Returns whether the recorder records each row that changes. Otherwise a commit says "everything".
    #[inline]
    pub(crate) fn records_rows(&self) -> bool {
        self.0.borrow().records_rows
    }

    /// Installs the hook. The connection must have no statement that was prepared before: such a statement could empty a table without
    /// calling the hook.
    pub(crate) fn install(&self, connection: &Connection) {
        self.0.borrow_mut().records_rows = true;
        let state = Rc::clone(&self.0);
        connection.set_preupdate_hook(move |event| {
            let timer = profile::start();
            state.borrow_mut().record(event);
            profile::writer_dirty_row(timer);
        });
    }

    /// Notes that a transaction begins: its changes are decoded as far as the interest needs now.
    pub(crate) fn begin(&self, commits: &Commits) {
        let mut state = self.0.borrow_mut();
        state.clear();
        state.schema_touched = false;
        let interest = commits.interest();
        if !Arc::ptr_eq(&interest, &state.interest) {
            state.interest = interest;
            state.latest = None;
            state.watched.clear();
        }
    }

    /// Returns a point to which [`rollback_to`](Self::rollback_to) can return.
    pub(crate) fn mark(&self) -> Mark {
        self.0.borrow_mut().mark()
    }

    /// Notes that SQLite released the savepoint that was opened at the mark, with the savepoints that statements have opened since.
    pub(crate) fn release(&self, mark: Mark) {
        self.0.borrow_mut().close_since(mark);
    }

    /// Notes that SQLite undid everything after the mark.
    pub(crate) fn rollback_to(&self, mark: Mark) {
        let mut state = self.0.borrow_mut();
        state.close_since(mark);
        state.undo_since(mark);
    }

    /// Notes that a statement with this unreported effect has run.
    pub(crate) fn follow(&self, unreported: &Unreported) {
        let mut state = self.0.borrow_mut();
        match unreported {
            Unreported::Savepoint(name) => {
                let mark = state.mark();
                state.savepoints.push((name.clone(), mark));
            }
            Unreported::Release(name) => {
                let at = state.innermost(name).unwrap_or(0);
                state.savepoints.truncate(at);
            }
            Unreported::RollBackTo(name) => state.undo_to_savepoint(name),
            Unreported::Header(_) => {}
        }
    }

    /// Notes that SQLite undid everything.
    pub(crate) fn discard(&self) {
        let mut state = self.0.borrow_mut();
        state.clear();
        state.forget_if_touched();
    }

    /// Notes that another process changed the schema; tables may mean something else now.
    pub(crate) fn forget_tables(&self) {
        self.0.borrow_mut().forget_tables();
    }

    /// Notes that SQLite has committed, and returns the commit number. `wrote` states that SQLite has written something, even if no row
    /// was recorded. `id` is the id by which callers know the commit, if it differs from its number.
    pub(crate) fn commit(&self, commits: &Commits, wrote: bool, id: Option<CommitId>) -> CommitNumber {
        let timer = profile::start();
        let mut state = self.0.borrow_mut();
        if wrote && !state.records_rows {
            state.changes.record_everything_changed();
        }
        let number = commits.append(&mut state.changes, wrote, id);
        profile::writer_dirty(timer);
        number
    }

    /// Notes that a statement changed the schema; tables may mean something else now.
    pub(crate) fn schema_changed(&self) {
        let mut state = self.0.borrow_mut();
        state.changes.record_schema_changed();
        state.schema_touched = true;
        state.forget_tables();
    }

    /// Notes that anything may have changed.
    pub(crate) fn everything_changed(&self) {
        let mut state = self.0.borrow_mut();
        state.changes.record_everything_changed();
        state.schema_touched = true;
        state.forget_tables();
    }

    /// Sends every row to `sink` from now on, in place of the previous sink. Call this while no transaction has written anything.
    pub(crate) fn set_sink(&self, sink: Option<Rc<RefCell<dyn RowSink>>>) {
        self.0.borrow_mut().sink = sink;
    }

    /// Returns whether a sink receives every row.
    #[inline]
    pub(crate) fn has_sink(&self) -> bool {
        self.0.borrow().sink.is_some()
    }

    /// Reads the tables of the database, if rows are recorded and the tables are not known. Call this before a statement writes: inside
    /// the hook it would be too late.
    pub(crate) fn know_tables(&self, connection: &Connection) -> Result<()> {
        let state = self.0.borrow();
        if !state.records_rows {
            return Ok(());
        }
        let tells_rows = state.interest.row_detail().is_some();
        let is_known = !state.tables.is_empty() && (state.tables.have_names() || !tells_rows);
        let sink = state.sink.clone();
        drop(state);
        if let Some(sink) = sink {
            sink.borrow_mut().know_tables(connection)?;
        }
        if !is_known {
            let tables = read_tables(connection, tells_rows)?;
            let mut state = self.0.borrow_mut();
            state.forget_names();
            state.tables = tables;
        }
        Ok(())
    }
}

impl State {
    fn mark(&mut self) -> Mark {
        let mark = self.changes.mark();
        if let Some(sink) = &self.sink {
            sink.borrow_mut().mark(mark);
        }
        mark
    }

    /// Forgets what was recorded after the mark. Savepoints stay as they are.
    fn undo_since(&mut self, mark: Mark) {
        self.changes.rollback_to(mark);
        if let Some(sink) = &self.sink {
            sink.borrow_mut().roll_back_to(mark);
        }
        self.forget_if_touched();
    }

    /// Forgets the savepoints that statements have opened after the mark.
    fn close_since(&mut self, mark: Mark) {
        self.savepoints.retain(|(_, opened)| *opened < mark);
    }

    /// Forgets what was recorded since a savepoint was opened; it stays open.
    fn undo_to_savepoint(&mut self, name: &str) {
        match self.innermost(name) {
            Some(at) => {
                self.savepoints.truncate(at + 1);
                self.undo_since(self.savepoints[at].1);
            }
            // A batch has opened several savepoints of this name.
            None => {
                self.changes.record_everything_changed();
                self.forget_if_touched();
            }
        }
    }

    /// Returns the position of the innermost savepoint of this name.
    fn innermost(&self, name: &str) -> Option<usize> {
        let is_it = |(open, _): &(String, _)| open.eq_ignore_ascii_case(name);
        self.savepoints.iter().rposition(is_it)
    }

    fn forget_if_touched(&mut self) {
        if self.schema_touched {
            self.forget_tables();
        }
    }

    fn clear(&mut self) {
        self.changes.clear();
        self.savepoints.clear();
        if let Some(sink) = &self.sink {
            sink.borrow_mut().clear();
        }
    }

    fn forget_tables(&mut self) {
        self.forget_names();
        if let Some(sink) = &self.sink {
            sink.borrow_mut().forget_tables();
        }
    }

    fn forget_names(&mut self) {
        self.tables.clear();
        self.latest = None;
        self.watched.clear();
    }

    fn record(&mut self, event: &PreUpdate<'_>) {
        if let Some(sink) = &self.sink {
            sink.borrow_mut().row(event);
        }
        if event.table.is_empty() {
            // A name that is not UTF-8 cannot be compared with others.
            return self.changes.record_everything_changed();
        }
        let known = self
            .latest
            .as_ref()
            .is_some_and(|latest| latest.table == event.table && latest.schema == event.schema);
        if !known {
            self.latest = Some(self.look_up(event));
        }
        let Some(latest) = &self.latest else {
            return;
        };
        let Latest { facts, watched, .. } = latest;
        if let Some(change) = decode(event, facts, watched, latest.all_compared) {
            self.changes.record(&facts.name, watched, change);
        }
        if let Some(table) = &facts.perhaps_of {
            let unknown = RowChange::Update {
                columns: Columns::Any,
                old: None,
                new: None,
            };
            self.changes.record(table, Watched::nothing(), unknown);
        }
    }

    fn watched(&mut self, facts: &Facts) -> Arc<Watched> {
        let Some(names) = &facts.names else {
            return self.interest.watched(&facts.name);
        };
        let needed = || self.interest.watched_with(&facts.name, names);
        Arc::clone(self.watched.entry(facts.name.clone()).or_insert_with(needed))
    }

    fn look_up(&mut self, event: &PreUpdate<'_>) -> Latest {
        let facts = self.tables.facts(event.schema, event.table);
        let watched = self.watched(&facts);
        Latest {
            schema: event.schema.into(),
            table: event.table.into(),
            all_compared: compares_all(event, &watched),
            facts,
            watched,
        }
    }
}
