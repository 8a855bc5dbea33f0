//! Applying the entries of another copy of the database.
//!
//! The rows are written by statements, so that the hook reports them and live queries stay precise. The hook's report also
//! shows whether an entry fits: what is recorded of each operation must be that very operation, with all values before and
//! after.
//!
//! Meanwhile triggers and foreign keys are off, since the entry has what they did. Checks are off, since the rows have passed
//! them. Shadow tables can be written to. SQLite prepares all statements again when these settings change. So the settings stay
//! until something else is to be written, and entries that follow each other pay the cost only once. Entries that wait together
//! are applied in one commit, like a group of writes: readers see all of these entries, or none.

use std::{slice, sync::Arc};

use resqlite_sqlite::{ValueRef, codes};

use super::{
    client::{Log, Work},
    job::JobDone,
    maker::EntryMaker,
    own::bind_all,
};
use crate::{
    connection::open::{end_script, set_foreign_keys},
    core::{
        commit_id::CommitId,
        error::{EntryFault, Error, Result},
        names::quoted,
        options::Durability,
    },
    entries::{Entry, EntryKey, EntryTable, Head, Operation},
};

impl Work<'_> {
    /// Applies entries that follow each other.
    pub(super) fn apply(&mut self, jobs: Vec<(Entry, JobDone<CommitId>)>) {
        if jobs.is_empty() {
            return;
        }
        let (entries, done): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
        match self.try_to_apply(&entries) {
            Err(_) if entries.len() > 1 => {
                // One of the entries is to blame. The entries before it can be applied.
                for (entry, done) in entries.iter().zip(done) {
                    done(self.try_to_apply(slice::from_ref(entry)));
                }
            }
            applied => done.into_iter().for_each(|done| done(applied.clone())),
        }
    }

    /// Applies entries in a transaction of their own; returns the number of the commit.
    pub(super) fn try_to_apply(&mut self, entries: &[Entry]) -> Result<CommitId> {
        self.begin_to_apply()?;
        let applied = self.transact(Durability::Normal, |work| {
            let last = work.apply_in_transaction(entries)?;
            Ok(((), Some(last.position)))
        });
        let applied = applied.map_err(|error| self.writing.connection.explain_error(error));
        let ((), commit) = applied?;
        self.tell_gate(|gate| entries.iter().for_each(|entry| gate.committed(entry)));
        Ok(commit)
    }

    /// Applies the entries in the open transaction. Returns the head that the last entry makes.
    fn apply_in_transaction(&mut self, entries: &[Entry]) -> Result<Head> {
        self.log.making(|maker| maker.define_freely(true));
        self.make_position_table()?;
        self.log.making(|maker| maker.define_freely(false));
        let mut head = self.read_head()?;
        self.refuse_temporary("trigger", "temporary triggers would run")?;
        self.writing.know_tables()?;
        let mut statements = Statements::default();
        for entry in entries {
            check_follows(head, entry)?;
            for operation in entry.operations() {
                self.apply_operation(&operation, &mut statements)?;
            }
            head = Head::of(entry);
        }
        self.flush_virtual_tables()?;
        self.log.making(EntryMaker::close);
        self.write_head(head)?;
        self.log_entries(entries)?;
        self.log.making(|maker| maker.refuse_late()).transpose()?;
        Ok(head)
    }

    fn refuse_temporary(&mut self, kind: &str, what: &str) -> Result<()> {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE type GLOB '{kind}')");
        match self.writing.connection.internal(&sql)? {
            Some(1) => {
                let message = format!("the entry cannot be applied: {what}");
                Err(Error::entry(EntryFault::NotCarried, message))
            }
            _ => Ok(()),
        }
    }

    fn apply_operation(&mut self, operation: &Operation<'_>, statements: &mut Statements) -> Result<()> {
        match operation {
            Operation::Sql(sql) => self.apply_sql(operation, sql),
            Operation::Clear { table } => {
                self.run_row(&statements.of(table).clear.clone(), &[])?;
                self.log.recorded(operation).map(drop)
            }
            Operation::Insert { table, rowid, new } => {
                let sql = Arc::clone(&statements.of(table).insert);
                let mut values = settable(table, new.values());
                values.extend(table.has_rowids().then_some(ValueRef::Integer(*rowid)));
                self.apply_row(operation, &sql, &values, table, *rowid)
            }
            Operation::Update {
                table,
                old_rowid,
                new_rowid,
                old,
                new,
            } => {
                let texts = statements.of(table);
                let moves = old_rowid != new_rowid;
                let sql = Arc::clone(if moves { &texts.move_row } else { &texts.update });
                let mut values = settable(table, new.values());
                values.extend(moves.then_some(ValueRef::Integer(*new_rowid)));
                values.extend(key(table, *old_rowid, &old.values()));
                self.apply_row(operation, &sql, &values, table, *old_rowid)
            }
            Operation::Delete { table, rowid, old } => {
                let sql = Arc::clone(&statements.of(table).delete);
                let values: Vec<_> = key(table, *rowid, &old.values()).collect();
                self.apply_row(operation, &sql, &values, table, *rowid)
            }
        }
    }

    fn apply_row(
        &mut self,
        operation: &Operation<'_>,
        sql: &Arc<str>,
        values: &[ValueRef<'_>],
        table: &EntryTable,
        rowid: i64,
    ) -> Result<()> {
        let differs = |why: &str| {
            let row = match table.key {
                EntryKey::Rowid(_) => format!("row {rowid}"),
                EntryKey::Columns(_) => "a row".to_owned(),
            };
            let message = format!(
                "the entry does not fit this database: {row} of {} {why}",
                table.name
            );
            Error::entry(EntryFault::Row, message)
        };
        self.run_row(sql, values).map_err(|error| match &error {
            Error::Sqlite(said) if said.primary() == codes::CONSTRAINT => {
                differs(&format!("({})", said.message()))
            }
            _ => error,
        })?;
        match self.log.recorded(operation)? {
            Some(true) => Ok(()),
            Some(false) => Err(differs("is not as the entry says")),
            None => Err(differs("is not there")),
        }
    }

    fn run_row(&mut self, sql: &Arc<str>, values: &[ValueRef<'_>]) -> Result<()> {
        let mut prepared = self.writing.connection.take(sql)?;
        let ran = bind_all(&mut prepared.statement, values).and_then(|()| prepared.statement.step());
        self.writing.connection.put(sql, prepared);
        Ok(ran.map(drop)?)
    }

    /// Applies a change of the schema, or of a number in the header of the file.
    fn apply_sql(&mut self, operation: &Operation<'_>, sql: &str) -> Result<()> {
        self.refuse_temporary("*", "its names could mean temporary tables or views")?;
        self.log.making(|maker| maker.define_freely(true));
        self.writing.connection.guard.authorizer.forget_effects();
        let prepared = self.writing.connection.sqlite.prepare(sql, false)?;
        if let Some(mut statement) = prepared.statement {
            let effects = self.writing.connection.guard.authorizer.effects_of(&statement);
            let ran = statement.run();
            self.writing.has_written(&effects);
            ran?;
        }
        self.writing.connection.clear();
        self.log.recorded(operation)?;
        self.log.making(|maker| maker.define_freely(false));
        self.writing.know_tables()
    }

    /// Sets the connection up for entries, unless it is set up for them already.
    fn begin_to_apply(&mut self) -> Result<()> {
        if self.log.applies {
            return Ok(());
        }
        self.writing.begin_to_record_rows()?;
        self.writing.connection.clear();
        self.log.applies = true;
        self.update_maker();
        self.log.making(|maker| maker.set_verbatim(true));
        let set = self.writing.connection.as_internal(|connection| {
            set_foreign_keys(connection, false)?;
            connection.set_triggers(false)?;
            connection.set_defensive(false)?;
            connection.execute_script("PRAGMA ignore_check_constraints = ON")?;
            Ok(())
        });
        if set.is_err() {
            self.end_apply();
        }
        set
    }

    /// Sets the connection up for everything but entries, unless it is set up for that already.
    pub(super) fn end_apply(&mut self) {
        if !std::mem::take(&mut self.log.applies) {
            return;
        }
        self.update_maker();
        self.writing.connection.clear();
        let settings = &self.writing.context.settings;
        self.log.making(|maker| maker.set_verbatim(false));
        let restored = self.writing.connection.as_internal(|connection| {
            connection.set_triggers(true)?;
            connection.set_defensive(settings.defensive)?;
            end_script(connection, settings)?;
            // Virtual tables remember what they have written. Entries have written to their tables without them.
            Ok::<_, Error>(connection.forget_schemas()?)
        });
        // If this fails, the panic makes the writer replace this connection.
        assert!(restored.is_ok(), "the connection cannot be set up: {restored:?}");
    }
}

impl Log {
    /// Returns whether exactly this operation was recorded since the last call; `None` if none was.
    fn recorded(&self, expected: &Operation<'_>) -> Result<Option<bool>> {
        let recorded = self.making(|maker| maker.recorded(expected));
        Ok(recorded.transpose()?.flatten())
    }
}

fn check_follows(now: Head, entry: &Entry) -> Result<()> {
    if entry.position() != now.position.next() {
        let message = format!(
            "the entry has the position {}, and the next one here is {}",
            entry.position(),
            now.position.next()
        );
        return Err(Error::entry(EntryFault::Position, message));
    }
    if entry.previous() != now.hash {
        let message = format!(
            "the histories differ: the entry with the position {} follows {}, and here {} was applied",
            entry.position(),
            entry.previous(),
            now.hash
        );
        return Err(Error::entry(EntryFault::Chain, message));
    }
    Ok(())
}

/// The values of the columns that statements can set.
fn settable<'a>(table: &EntryTable, values: Vec<ValueRef<'a>>) -> Vec<ValueRef<'a>> {
    let columns = table.columns.iter().zip(values);
    let settable = columns.filter(|(column, _)| !column.generated);
    settable.map(|(_, value)| value).collect()
}

/// Returns the values that identify a row.
fn key<'a>(table: &EntryTable, rowid: i64, values: &[ValueRef<'a>]) -> impl Iterator<Item = ValueRef<'a>> {
    match &table.key {
        EntryKey::Rowid(_) => vec![ValueRef::Integer(rowid)],
        EntryKey::Columns(columns) => columns.iter().map(|&column| values[column]).collect(),
    }
    .into_iter()
}

/// The statements for the tables of entries. Entries mostly have few tables, and their rows are mostly of the latest table.
#[derive(Default)]
struct Statements(Vec<(Arc<EntryTable>, Texts)>);

/// The statements that write to a table.
struct Texts {
    insert: Arc<str>,
    /// Updates a row that keeps its rowid, which this statement does not set: a table may have as many columns as a statement
    /// can set.
    update: Arc<str>,
    move_row: Arc<str>,
    delete: Arc<str>,
    clear: Arc<str>,
}

impl Statements {
    fn of(&mut self, table: &Arc<EntryTable>) -> &Texts {
        let at = self.0.iter().rposition(|(known, _)| Arc::ptr_eq(known, table));
        let at = at.unwrap_or_else(|| self.know(table));
        &self.0[at].1
    }

    /// Returns the number of a table, and adds the table if it is not known. Each entry describes its tables anew, and they are
    /// mostly those of the entry before.
    fn know(&mut self, table: &Arc<EntryTable>) -> usize {
        if let Some(at) = self.0.iter().rposition(|(known, _)| known == table) {
            self.0[at].0 = Arc::clone(table);
            return at;
        }
        self.0.push((Arc::clone(table), Texts::of(table)));
        self.0.len() - 1
    }
}

impl Texts {
    /// `OR ABORT` is there because a table can declare something else, such as UNIQUE ON CONFLICT REPLACE.
    fn of(table: &EntryTable) -> Self {
        let name = format!("main.{}", quoted(&table.name, '"'));
        let set = table.columns.iter().filter(|column| !column.generated);
        let mut set: Vec<_> = set.map(|column| quoted(&column.name, '"')).collect();
        let key: Vec<_> = match &table.key {
            EntryKey::Rowid(rowid) => {
                set.push(quoted(rowid, '"'));
                vec![quoted(rowid, '"')]
            }
            EntryKey::Columns(columns) => {
                let name = |&column: &usize| quoted(&table.columns[column].name, '"');
                columns.iter().map(name).collect()
            }
        };
        let places: Vec<_> = (1..=set.len()).map(|place| format!("?{place}")).collect();
        let set_all: Vec<_> = set
            .iter()
            .zip(&places)
            .map(|(name, place)| format!("{name} = {place}"))
            .collect();
        let without_rowid = set.len() - usize::from(table.has_rowids());
        let is_row = |first: usize| {
            let terms = (first..)
                .zip(&key)
                .map(|(place, name)| format!("{name} = ?{place}"));
            terms.collect::<Vec<_>>().join(" AND ")
        };
        let update = |set: &[String]| {
            format!(
                "UPDATE OR ABORT {name} SET {} WHERE {}",
                set.join(", "),
                is_row(set.len() + 1)
            )
            .into()
        };
        Self {
            insert: format!(
                "INSERT OR ABORT INTO {name}({}) VALUES ({})",
                set.join(", "),
                places.join(", ")
            )
            .into(),
            update: update(&set_all[..without_rowid]),
            move_row: update(&set_all),
            delete: format!("DELETE FROM {name} WHERE {}", is_row(1)).into(),
            clear: format!("DELETE FROM {name}").into(),
        }
    }
}
