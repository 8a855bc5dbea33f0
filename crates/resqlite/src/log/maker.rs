//! Draws up the entry of the open transaction.
//!
//! The pre-update hook reports most of it. What it does not report is found in other ways:
//!
//! - **The schema.** A statement that has changed it is carried as text, after the rows that it changed on its way (DROP
//!   TABLE deletes rows by foreign keys). Tables that came with their rows (CREATE TABLE AS, virtual tables) are carried with
//!   all rows, since nothing says that they would get the same ones again.
//! - **`sqlite_sequence`** is compared with what it was at the first write, and carried with all rows.
//! - **Statistics** are carried with all rows if ANALYZE has run.
//! - **Virtual tables hold rows back** until a savepoint or COMMIT makes them write: see `flush_virtual_tables`.
//!
//! A change that cannot be carried sets a refusal. Beside an entry gate the transaction cannot commit then; for change feeds alone
//! its entry is empty, and marked as a gap. Undone work is cut off at marks.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};

use resqlite_live::Mark;
use resqlite_sqlite::{Connection, PreUpdate, RowOperation, ValueRef};
use sqlite3_parser::dialect::TokenType::{TK_CREATE, TK_PRAGMA, TK_REINDEX, TK_SEMI, TK_TABLE, TK_VIRTUAL};

use super::shapes::{Nature, Shape, Shapes, add_content};
use crate::{
    commits::{decode::old_value, recorder::RowSink},
    core::{
        error::{EntryFault, Error, Result},
        names::OWN_TABLES,
        tokens::tokens,
    },
    entries::{Draft, DraftMark, EntryTable, Operation, Reader},
    guard::effects::{Effects, Unreported},
};

/// The fate of a transaction that no entry can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Uncarried {
    /// The transaction cannot commit.
    #[default]
    Refused,
    /// The transaction commits, with an entry that says only that something has changed.
    Gap,
}

/// The way in which an entry was ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sealed {
    /// Nothing changed that an entry carries.
    Unchanged,
    /// Nothing changed that an entry carries, but pages may have been written: by what was undone or has failed, or by REINDEX
    /// and the like.
    PagesOnly,
    /// The entry has all changes.
    Complete,
    /// The entry has no operations, because something changed that no entry can carry.
    Gap,
}

/// The reason why a transaction cannot be carried.
struct Refusal {
    /// The length of the draft at that moment, in bytes.
    at: usize,
    reason: String,
    /// The transaction cannot commit in any case: tables of resqlite's own would change.
    is_final: bool,
}

/// The entry of the open transaction.
#[derive(Default)]
pub(super) struct EntryMaker {
    pub(super) draft: Draft,
    /// `None` if they must be read before the next write.
    shapes: Option<Rc<Shapes>>,
    uncarried: Uncarried,
    /// Rows of SQLite's own tables are recorded, too: an entry is being applied.
    verbatim: bool,
    /// The writer itself writes to [`OWN_TABLES`].
    writes_own: bool,
    /// The tables that the draft has defined, as they are now, with their numbers.
    defined: HashMap<String, usize>,
    marks: Vec<(Mark, DraftMark)>,
    refusal: Option<Refusal>,
    /// `sqlite_sequence` at the first write of the transaction.
    sequence: Option<Draft>,
    /// SQL has written to `sqlite_sequence` itself.
    sequence_written: bool,
    statistics_written: bool,
    /// A statement that changes the schema is running.
    defining: Option<Definition>,
    /// Pages may have been written, even if all was undone.
    may_have_written: bool,
    /// The entry is made; only [`OWN_TABLES`] may change from now on.
    sealed: bool,
    /// Something else has changed nevertheless.
    is_late: bool,
    /// The tables that `recorded` has met.
    known: Vec<Arc<EntryTable>>,
}

/// The state before a statement that changes the schema.
struct Definition {
    version: Option<String>,
    tables: HashSet<String>,
    may_have_written: bool,
}

const SCHEMA_VERSION: &str = "PRAGMA main.schema_version";

const UNNAMED: &str = ": its columns have all names of the rowid, so that its rows cannot be told apart";

/// Makes the tables of statistics where they are missing, and lets SQLite read them.
const LOAD_STATISTICS: &str = "ANALYZE main.sqlite_schema";

impl EntryMaker {
    pub(super) fn new(uncarried: Uncarried) -> Self {
        Self {
            uncarried,
            ..Self::default()
        }
    }

    pub(super) fn uncarried(&self) -> Uncarried {
        self.uncarried
    }

    fn shapes(&mut self, connection: &Connection) -> Result<Rc<Shapes>> {
        if self.shapes.is_none() {
            self.shapes = Some(Rc::new(Shapes::read(connection)?));
            self.defined.clear();
        }
        Ok(Rc::clone(self.shapes.as_ref().expect("read above")))
    }

    /// Returns whether the main database has virtual tables, which hold back rows; `true` if that is not known.
    pub(super) fn has_virtual_tables(&self) -> bool {
        self.shapes
            .as_ref()
            .is_none_or(|shapes| shapes.have_virtual_tables())
    }

    /// Refuses to carry the transaction, unless the work up to here is undone.
    pub(super) fn refuse(&mut self, reason: String) {
        self.refuse_as(reason, false);
    }

    fn refuse_rows(&mut self, table: &str, reason: &str) {
        self.refuse(format!("an entry cannot carry rows of {table:?}{reason}"));
    }

    fn refuse_own(&mut self, table: &str) {
        self.refuse_as(format!("{table} is resqlite's own"), true);
    }

    fn refuse_as(&mut self, reason: String, is_final: bool) {
        if self
            .refusal
            .as_ref()
            .is_none_or(|known| is_final && !known.is_final)
        {
            // So that an undo to a mark before this differs from an undo to a mark after it.
            self.draft.sql("");
            self.refusal = Some(Refusal {
                at: self.draft.byte_len(),
                reason,
                is_final,
            });
        }
    }

    /// Notes a change after the entry was made. For feeds alone, the rows in which a virtual table keeps its content do not
    /// count.
    fn changed_late(&mut self, shape: Option<&Shape>) {
        let is_internal = shape.is_some_and(|shape| shape.table.is_internal);
        self.is_late |= self.uncarried == Uncarried::Refused || !is_internal;
    }

    fn record_in(&mut self, shape: &Shape, event: &PreUpdate<'_>) {
        match shape.nature {
            Nature::Sequence | Nature::Statistics if self.verbatim => self.add_row(shape, event),
            Nature::Sequence => self.sequence_written = true,
            Nature::Statistics => self.statistics_written = true,
            Nature::Unnamed => self.refuse_rows(event.table, UNNAMED),
            Nature::Rows if event.blob_column().is_some() => {
                self.refuse_rows(event.table, ": it was written to as an open BLOB");
            }
            _ => self.add_row(shape, event),
        }
        if let Some(reason) = self.draft.too_large() {
            self.refuse(reason);
        }
    }

    fn add_row(&mut self, shape: &Shape, event: &PreUpdate<'_>) {
        let table = self.number(shape);
        let draft = &mut self.draft;
        let has_rowids = shape.table.has_rowids();
        let columns = shape.columns.iter().map(|&column| usize::from(column));
        let old = |column| old_value(event, &shape.real, column).unwrap_or(ValueRef::Null);
        let new = |column| event.new_value(column).unwrap_or(ValueRef::Null);
        match event.operation {
            RowOperation::Insert => {
                draft.insert(table, has_rowids.then_some(event.new_rowid), columns.map(new));
            }
            RowOperation::Update => {
                let rowids = has_rowids.then_some((event.old_rowid, event.new_rowid));
                draft.update(table, rowids, columns.map(|column| (old(column), new(column))));
            }
            RowOperation::Delete => {
                draft.delete(table, has_rowids.then_some(event.old_rowid), columns.map(old));
            }
        }
    }

    fn number(&mut self, shape: &Shape) -> usize {
        let name = &shape.table.name;
        if let Some(number) = self.defined.get(name) {
            return *number;
        }
        let number = self.draft.table(&shape.table);
        self.defined.insert(name.clone(), number);
        number
    }

    /// Notes that a statement that may change the schema is about to run.
    pub(super) fn definition_begins(&mut self, connection: &Connection) -> Result<()> {
        // Rows of tables that the statement makes are reported while it runs.
        let tables = self.shapes(connection)?.names().cloned().collect();
        self.defining = Some(Definition {
            version: connection.query_text(SCHEMA_VERSION)?,
            tables,
            may_have_written: self.may_have_written,
        });
        // Set here, so that it stays set if the statement fails.
        self.may_have_written = true;
        Ok(())
    }

    /// Carries what the hook has not reported of a statement that has run.
    pub(super) fn ran(&mut self, connection: &Connection, effects: &Effects, sql: &str) -> Result<()> {
        if effects.statistics {
            self.statistics_written = true;
            self.shapes = None;
        }
        if let Some(Unreported::Header(name)) = effects.unreported.as_deref() {
            self.carry_header(connection, name)?;
        }
        if effects.writes.is_empty() && Kind::of(sql) == Kind::Pragma {
            // Such a PRAGMA writes no rows, but a number in the header, or pages that `incremental_vacuum` moves.
            self.may_have_written |= !effects.only_reports;
        }
        match self.defining.take() {
            Some(before) => self.defined(connection, &before, effects, sql),
            None => Ok(()),
        }
    }

    /// Carries a change of the schema. If the version of the schema is as before, there was no change: the statement was about
    /// temporary tables, or what it should make existed already.
    fn defined(
        &mut self,
        connection: &Connection,
        before: &Definition,
        effects: &Effects,
        sql: &str,
    ) -> Result<()> {
        if connection.query_text(SCHEMA_VERSION)? == before.version {
            // The reports of the hook do not count: the tables that it reports here are those of statistics, and these are
            // carried.
            self.may_have_written = before.may_have_written || Kind::of(sql) == Kind::Reindex;
            return Ok(());
        }
        self.shapes = None;
        let shapes = self.shapes(connection)?;
        let is_lost = |table: &&&str| before.tables.contains(**table) && shapes.get(table).is_none();
        if let Some(lost) = OWN_TABLES.iter().find(is_lost) {
            self.refuse_own(lost);
            return Ok(());
        }
        if effects.statistics {
            // ANALYZE has made its tables. Their rows are carried when all statements have run, but later statements may name
            // the tables.
            self.draft.sql(LOAD_STATISTICS);
            return Ok(());
        }
        let mut made: Vec<_> = shapes
            .names()
            .filter(|name| !before.tables.contains(*name))
            .collect();
        made.sort_unstable();
        let made = made.into_iter().filter_map(|name| shapes.get(name));
        match Kind::of(sql) {
            Kind::Table => {
                for shape in made.filter(|shape| matches!(shape.nature, Nature::Rows | Nature::Unnamed)) {
                    self.draft.sql(&definition(connection, &shape.table.name)?);
                    if !is_empty(connection, &shape.table.name)? {
                        self.content(connection, shape)?;
                    }
                }
            }
            Kind::VirtualTable => {
                self.draft.sql(without_end(sql));
                for shape in made.filter(|shape| shape.nature != Nature::Virtual) {
                    self.content(connection, shape)?;
                }
            }
            Kind::Reindex | Kind::Pragma | Kind::Other => self.draft.sql(without_end(sql)),
        }
        Ok(())
    }

    fn content(&mut self, connection: &Connection, shape: &Shape) -> Result<()> {
        if shape.nature == Nature::Unnamed {
            self.refuse_rows(&shape.table.name, UNNAMED);
            return Ok(());
        }
        add_content(connection, &shape.table, &mut self.draft)
    }

    /// Carries the number that a PRAGMA of this name has set.
    fn carry_header(&mut self, connection: &Connection, name: &str) -> Result<()> {
        let pragma = format!("PRAGMA main.{name}");
        let value = connection.query_text(&pragma)?.unwrap_or_default();
        self.draft.sql(&format!("{pragma} = {value}"));
        Ok(())
    }

    /// Ends the draft with the tables that must be compared.
    ///
    /// # Errors
    /// [`EntryFault::NotCarried`] says what cannot be carried.
    pub(super) fn seal(&mut self, connection: &Connection) -> Result<Sealed> {
        if self.refusal.is_none() {
            let shapes = self.shapes(connection)?;
            self.seal_statistics(connection, &shapes)?;
            self.seal_sequence(connection, &shapes)?;
        }
        self.sealed = true;
        match &self.refusal {
            Some(refusal) if refusal.is_final || self.uncarried == Uncarried::Refused => {
                Err(Error::entry(EntryFault::NotCarried, refusal.reason.clone()))
            }
            Some(_) => {
                self.draft.forget_operations();
                Ok(Sealed::Gap)
            }
            None if !self.draft.is_empty() => Ok(Sealed::Complete),
            None if self.may_have_written => Ok(Sealed::PagesOnly),
            None => Ok(Sealed::Unchanged),
        }
    }

    fn seal_sequence(&mut self, connection: &Connection, shapes: &Shapes) -> Result<()> {
        let (now, all) = (sequence(connection, shapes)?, DraftMark::default());
        let before = self.sequence.as_ref();
        let has_changed = before.is_some_and(|before| before.since(all) != now.since(all));
        match shapes.get("sqlite_sequence") {
            Some(shape) if has_changed || self.sequence_written => self.content(connection, shape),
            _ => Ok(()),
        }
    }

    fn seal_statistics(&mut self, connection: &Connection, shapes: &Shapes) -> Result<()> {
        let (there, missing): (Vec<_>, Vec<_>) = ["sqlite_stat1", "sqlite_stat4"]
            .into_iter()
            .partition(|name| shapes.get(name).is_some());
        if !self.statistics_written || there.is_empty() {
            return Ok(());
        }
        self.draft.sql(LOAD_STATISTICS);
        for shape in there.iter().filter_map(|name| shapes.get(name)) {
            self.content(connection, shape)?;
        }
        self.draft.sql(LOAD_STATISTICS);
        // This makes both tables.
        for name in missing {
            self.draft.sql(&format!("DROP TABLE main.{name}"));
        }
        Ok(())
    }

    /// Notes that the entry is made elsewhere: from now on nothing else may change.
    pub(super) fn close(&mut self) {
        self.sealed = true;
    }

    /// Takes the operations recorded since the last call. Returns whether `expected` is among them, and no other; `None` if
    /// there are none at all.
    ///
    /// # Errors
    /// [`EntryFault::NotCarried`] says what cannot be carried.
    pub(super) fn recorded(&mut self, expected: &Operation<'_>) -> Result<Option<bool>> {
        if let Some(refusal) = &self.refusal {
            return Err(Error::entry(EntryFault::NotCarried, refusal.reason.clone()));
        }
        let mut reader = Reader::knowing(
            std::mem::take(&mut self.known),
            self.draft.since(DraftMark::default()),
        );
        let first = reader.next()?;
        let is_expected = first.as_ref().map(|first| first == expected);
        let mut is_only = true;
        while reader.next()?.is_some() {
            is_only = false;
        }
        self.known = reader.into_tables();
        self.draft.forget_operations();
        Ok(is_expected.map(|is_expected| is_expected && is_only))
    }

    /// Answers the commit hook: nothing may be committed that the entry does not carry.
    pub(super) fn may_commit(&self) -> bool {
        if self.sealed {
            !self.is_late
        } else {
            self.draft.is_empty()
        }
    }

    /// Fails if something has changed after the entry was made, as a trigger on the table of the position does.
    pub(super) fn refuse_late(&self) -> Result<()> {
        if self.is_late {
            let message = "something changed after the entry was made: a trigger on the table of the position, or a virtual table \
                           that writes at COMMIT, as FTS4 does with automerge";
            return Err(Error::entry(EntryFault::NotCarried, message));
        }
        Ok(())
    }

    /// Sets whether rows of SQLite's own tables are recorded.
    pub(super) fn set_verbatim(&mut self, verbatim: bool) {
        self.verbatim = verbatim;
    }

    pub(super) fn set_writes_own(&mut self, is_so: bool) {
        self.writes_own = is_so;
    }

    /// Sets whether rows of tables that are being made are allowed.
    pub(super) fn define_freely(&mut self, is_so: bool) {
        self.defining = is_so.then(|| Definition {
            version: None,
            tables: HashSet::new(),
            may_have_written: self.may_have_written,
        });
    }
}

impl RowSink for EntryMaker {
    fn clear(&mut self) {
        *self = Self {
            shapes: self.shapes.take(),
            uncarried: self.uncarried,
            verbatim: self.verbatim,
            ..Self::default()
        };
    }

    fn know_tables(&mut self, connection: &Connection) -> Result<()> {
        let shapes = self.shapes(connection)?;
        if self.sequence.is_none() {
            self.sequence = Some(sequence(connection, &shapes)?);
        }
        Ok(())
    }

    fn forget_tables(&mut self) {
        self.shapes = None;
        self.defined.clear();
    }

    fn row(&mut self, event: &PreUpdate<'_>) {
        if event.schema == "temp" {
            return;
        }
        if event.schema != "main" {
            // Feeds are of the main database; a log of entries must have everything.
            if self.uncarried == Uncarried::Refused {
                self.refuse("an entry carries nothing of attached databases".into());
            }
            return;
        }
        self.may_have_written |= !self.writes_own;
        let shapes = self.shapes.clone();
        let shape = shapes.as_ref().and_then(|shapes| shapes.get(event.table));
        match shape {
            _ if OWN_TABLES.contains(&event.table) => {
                if !self.writes_own {
                    self.refuse_own(event.table);
                }
            }
            _ if self.sealed => self.changed_late(shape),
            _ if self.refusal.is_some() => {}
            Some(shape) => self.record_in(shape, event),
            // A table that the statement makes is carried with its rows.
            None if self.defining.is_some() => {}
            None => self.refuse_rows(event.table, ""),
        }
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push((mark, self.draft.mark()));
    }

    fn roll_back_to(&mut self, mark: Mark) {
        // If a statement was changing the schema, it has failed.
        self.defining = None;
        let at = self.marks.partition_point(|(other, _)| *other < mark);
        let Some((_, to)) = self.marks.get(at).copied() else {
            return;
        };
        self.marks.truncate(at + 1);
        self.draft.roll_back_to(to);
        let tables = to.tables();
        self.defined.retain(|_, number| *number < tables);
        let length = self.draft.byte_len();
        self.refusal.take_if(|refusal| refusal.at > length);
        if self.statistics_written {
            // If an ANALYZE was undone, the tables of statistics that it made are gone, too.
            self.forget_tables();
        }
    }
}

/// Statements that an entry carries in ways of their own, or that write pages which no entry carries.
#[derive(PartialEq, Eq)]
enum Kind {
    Table,
    VirtualTable,
    Reindex,
    Pragma,
    Other,
}

impl Kind {
    fn of(sql: &str) -> Self {
        let mut words = tokens(sql)
            .map(|(token, _)| token)
            .filter(|token| *token != TK_SEMI);
        match (words.next(), words.next()) {
            (Some(TK_CREATE), Some(TK_TABLE)) => Self::Table,
            (Some(TK_CREATE), Some(TK_VIRTUAL)) => Self::VirtualTable,
            (Some(TK_REINDEX), _) => Self::Reindex,
            (Some(TK_PRAGMA), _) => Self::Pragma,
            _ => Self::Other,
        }
    }
}

/// Returns the statement without what separates it from other statements.
fn without_end(sql: &str) -> &str {
    sql.trim().trim_end_matches(';').trim_end()
}

/// `sqlite_sequence` as it is now.
fn sequence(connection: &Connection, shapes: &Shapes) -> Result<Draft> {
    let mut draft = Draft::default();
    if let Some(shape) = shapes.get("sqlite_sequence") {
        add_content(connection, &shape.table, &mut draft)?;
    }
    Ok(draft)
}

/// The CREATE TABLE of a table, as SQLite keeps it: without a SELECT and its parameters.
fn definition(connection: &Connection, table: &str) -> Result<String> {
    let sql = "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?1";
    let mut text = None;
    if let Some(mut found) = connection.prepare(sql, false)?.statement {
        found.bind(1, ValueRef::Text(table.as_bytes()))?;
        if found.step()? {
            text = found.column_text(0);
        }
    }
    Ok(text.unwrap_or_default())
}

fn is_empty(connection: &Connection, table: &str) -> Result<bool> {
    let table = crate::core::names::quoted(table, '"');
    let found = connection.query_text(&format!("SELECT EXISTS (SELECT 1 FROM main.{table})"))?;
    Ok(found.as_deref() == Some("0"))
}
