//! A connection of the engine: SQLite's, with its callbacks, its prepared statements and the buffers for packing rows.
//!
//! Each way to run a statement has a file of its own: [`select`](super::select), [`query`](super::query) for statements of any kind,
//! [`compare`](super::compare) for live queries, [`cursors`](super::cursors) and [`fetch`](super::fetch) for results that are fetched in
//! batches, [`returning`](super::returning) for writes. [`describe`](super::describe) describes a statement without running it.

use std::{num::NonZeroUsize, sync::Arc};

use lru::LruCache;
use resqlite_sqlite::{Connection, Statement, codes};

use super::{held_read::HeldRead, integrity::look_at_virtual_tables, location::Location, prepared::Prepared};
use crate::{
    core::error::{Error, Result},
    guard::Guard,
    maintain::given_tables::GivenTables,
    rows::Packer,
};

/// One thread's connection.
pub(crate) struct EngineConnection {
    pub(crate) sqlite: Connection,
    pub(crate) guard: Guard,
    location: Location,
    /// The prepared statements. The least recently used ones are dropped first.
    pub(super) cache: LruCache<Arc<str>, Prepared>,
    /// The number of times that the connection has forgotten all prepared statements.
    forgotten: u64,
    /// resqlite's own statements: BEGIN, COMMIT, savepoints. Their number grows with the levels of nesting.
    internal: Vec<(String, Statement)>,
    held_read: HeldRead,
    pub(super) packer: Packer,
    pub(crate) given_tables: GivenTables,
}

impl EngineConnection {
    pub(crate) fn new(sqlite: Connection, guard: Guard, location: Location, cache_size: usize) -> Self {
        let size = NonZeroUsize::new(cache_size).unwrap_or(NonZeroUsize::MIN);
        Self {
            sqlite,
            guard,
            location,
            cache: LruCache::new(size),
            forgotten: 0,
            internal: Vec::new(),
            held_read: HeldRead::default(),
            packer: Packer::default(),
            given_tables: GivenTables::default(),
        }
    }

    /// Replaces SQLite's reason for an error by resqlite's own, if there is one.
    pub(crate) fn explain_error(&self, error: Error) -> Error {
        let error = self.guard.explain(error);
        match error.sqlite().map(resqlite_sqlite::Error::primary) {
            Some(codes::IOERR | codes::CANTOPEN | codes::CORRUPT) => self.location.health.explain(error),
            Some(codes::NOTADB) => self.location.wrong_key_since_opened().unwrap_or(error),
            _ => error,
        }
    }

    /// Sets the key that the database has now.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(super) fn unlock_again(&mut self) -> Result<()> {
        Ok(self.location.encryption.unlock(&self.sqlite)?)
    }

    /// Forgets all prepared statements.
    pub(crate) fn clear(&mut self) {
        self.cache.clear();
        self.forgotten += 1;
    }

    /// Forgets PRAGMAs that report something, and makes SQLite check the schema of the main database. A PRAGMA on a table that SQLite
    /// does not know yet gives no rows: SQLite does not check whether the table exists by now.
    ///
    /// # Errors
    /// SQLite's error if it refuses one of the statements.
    pub(super) fn reread_for_reports(&mut self) -> Result<()> {
        let reports = self.cache.iter().filter(|(_, known)| known.effects.only_reports);
        for sql in reports.map(|(sql, _)| Arc::clone(sql)).collect::<Vec<_>>() {
            self.cache.pop(&sql);
        }
        self.internal("SELECT 1 FROM main.sqlite_schema").map(drop)
    }

    /// Returns the number of times that the connection has forgotten all prepared statements.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Returns the statement of `sql`, from the cache or prepared now.
    ///
    /// # Errors
    /// SQLite's, and [`Error::Statement`] if the text is not exactly one statement.
    pub(crate) fn get(&mut self, sql: &Arc<str>) -> Result<&mut Prepared> {
        get(&mut self.cache, &self.sqlite, &self.guard, sql)
    }

    /// Takes the statement of `sql` out of the cache, for a run that takes some time.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(crate) fn take(&mut self, sql: &Arc<str>) -> Result<Prepared> {
        let prepared = match self.cache.pop(sql) {
            Some(prepared) => prepared,
            None => Prepared::new(&self.sqlite, &self.guard, sql)?,
        };
        before_use(&prepared, &self.sqlite, &self.guard);
        Ok(prepared)
    }

    /// Puts back a statement that [`take`](Self::take) returned.
    pub(crate) fn put(&mut self, sql: &Arc<str>, mut prepared: Prepared) {
        prepared.statement.reset();
        self.cache.push(Arc::clone(sql), prepared);
    }

    /// Holds the read of the open transaction, or a new read, until [`release_read`](Self::release_read). The read goes on after COMMIT.
    /// Returns the version of the schema in the state of this read.
    ///
    /// # Errors
    /// SQLite's errors. In that case the read is not held.
    pub(crate) fn hold_read(&mut self) -> Result<i64> {
        self.held_read.hold(&self.sqlite, &self.guard)
    }

    /// Begins a transaction that holds the write lock, from the state of the held read if there is one; the read is then released.
    /// Returns SQLite's result, and whether there was a held read. An old read is released before the transaction begins.
    pub(crate) fn begin_write(&mut self) -> (Result<()>, bool) {
        self.held_read.release_if_old();
        let begun = self.internal("BEGIN IMMEDIATE").map(drop);
        self.guard.interrupt.has_lock();
        (begun, self.release_read())
    }

    /// Ends the read that is held. Returns whether there was one.
    pub(crate) fn release_read(&mut self) -> bool {
        self.held_read.release()
    }

    /// Returns whether a statement may fail and leave behind the changes that it had made by then.
    ///
    /// # Errors
    /// SQLite's errors for the text.
    pub(crate) fn may_fail_halfway(&mut self, sql: &Arc<str>) -> Result<bool> {
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, sql)?;
        Ok(prepared.may_fail_halfway(&self.sqlite, sql))
    }

    /// Runs one of resqlite's own statements, which may manage transactions. Returns the first column of the first row, if it is an
    /// integer.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn internal(&mut self, sql: &str) -> Result<Option<i64>> {
        let Self {
            sqlite,
            guard,
            internal,
            ..
        } = self;
        guard.as_internal(|| run_internal(sqlite, internal, sql))
    }

    /// Takes the snapshot of the read transaction that has begun: BEGIN takes no snapshot, but the first read does.
    pub(crate) fn take_snapshot(&mut self) -> Result<()> {
        self.internal("SELECT 1 FROM main.sqlite_schema").map(drop)
    }

    /// Runs `work`, in which statements may manage transactions, savepoints and attachments.
    pub(crate) fn as_internal<R>(&self, work: impl FnOnce(&Connection) -> R) -> R {
        self.guard.as_internal(|| work(&self.sqlite))
    }
}

fn run_internal(sqlite: &Connection, known: &mut Vec<(String, Statement)>, sql: &str) -> Result<Option<i64>> {
    let statement = match known.iter_mut().find(|(known, _)| known == sql) {
        Some((_, statement)) => statement,
        None => {
            let prepared = sqlite.prepare(sql, true)?.statement;
            let statement = prepared.ok_or_else(|| Error::Statement(format!("{sql:?} is no statement")))?;
            known.push((sql.to_owned(), statement));
            &mut known.last_mut().expect("pushed above").1
        }
    };
    let row = statement.step();
    let value = row.map(|has_row| statement.integer(0).filter(|_| has_row));
    statement.reset();
    Ok(value?)
}

/// Returns the statement of `sql`, from the cache or prepared now.
pub(super) fn get<'a>(
    cache: &'a mut LruCache<Arc<str>, Prepared>,
    sqlite: &Connection,
    guard: &Guard,
    sql: &Arc<str>,
) -> Result<&'a mut Prepared> {
    let prepared = cache.try_get_or_insert_mut(Arc::clone(sql), || Prepared::new(sqlite, guard, sql))?;
    before_use(prepared, sqlite, guard);
    Ok(prepared)
}

fn before_use(prepared: &Prepared, sqlite: &Connection, guard: &Guard) {
    if prepared.effects.checks_integrity {
        look_at_virtual_tables(sqlite, guard);
    }
}
