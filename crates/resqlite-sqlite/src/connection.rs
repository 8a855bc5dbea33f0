//! A connection. The thread that opens it is the only one that uses and closes it.

use std::{
    cell::{OnceCell, RefCell},
    ffi::{c_int, c_void},
    ptr::{self, NonNull},
    rc::Rc,
};

use resqlite_sqlite_sys as ffi;

use crate::{
    at_once,
    backup::Backup,
    c_text::{self, c_string},
    ciphers,
    error::{Error, Result},
    file_locks, full_text,
    handle::Handle,
    header::{self, Header},
    hooks::{self, Action, Hooks, PreUpdate},
    key::Key,
    log_header::LogHeader,
    log_position::{self, LogPosition},
    log_rewrite, series,
    statement::Statement,
};

/// The mode in which a database file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only; the file must exist.
    ReadOnly,
    /// Read only a file that nobody changes: SQLite takes no locks, looks for no journal and makes no files beside it.
    Immutable,
    /// Read and write; a missing file is created.
    ReadWriteCreate,
}

/// The extent of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// Copies what it can without waiting for readers or writers.
    Passive,
    /// Waits (busy handler) for writers, and for readers of older states, and copies everything.
    Full,
    /// As `Full`, and waits until no reader uses the log, so that the next commit starts it over.
    Restart,
    /// As `Restart`, and truncates the log to zero bytes.
    Truncate,
}

/// The result of a checkpoint, in pages; `None` if the database is not in WAL mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpointed {
    /// A reader, a writer or another checkpoint kept the checkpoint from doing all that it should.
    pub busy: bool,
    /// Pages in the log.
    pub log: Option<u32>,
    /// Pages of the log that have been copied to the database file.
    pub copied: Option<u32>,
}

/// The memory of a connection, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// The page cache.
    pub cache: u64,
    /// The parsed schema.
    pub schema: u64,
    /// Prepared statements.
    pub statements: u64,
}

/// The declaration of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMetadata {
    /// The declared type as written; `None` if the column has none.
    pub declared_type: Option<String>,
    /// The name of the collation that compares its text.
    pub collation: String,
}

/// The first statement of a text, and the rest of the text.
pub struct Prepared<'sql> {
    /// `None` if the text has only white space and comments.
    pub statement: Option<Statement>,
    /// The text after the first statement.
    pub tail: &'sql str,
}

/// A connection to a database. It is not `Send`, since its statements refer to it; see [`Parcel`](crate::Parcel).
pub struct Connection {
    handle: Rc<Handle>,
}

#[allow(unsafe_code)]
impl Connection {
    /// Opens a database file, through the named VFS or the default one.
    ///
    /// # Errors
    /// SQLite's error. Its message does not name the file; the caller knows it.
    pub fn open(path: &str, access: Access, vfs: Option<&str>) -> Result<Self> {
        let path = match access {
            Access::Immutable => c_string(&immutable_url(path))?,
            _ => c_string(path)?,
        };
        let vfs = vfs.map(c_string).transpose()?;
        let flags = ffi::SQLITE_OPEN_NOMUTEX
            | ffi::SQLITE_OPEN_EXRESCODE
            | match access {
                Access::ReadOnly | Access::Immutable => ffi::SQLITE_OPEN_READONLY,
                Access::ReadWriteCreate => ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE,
            };
        file_locks::install();
        at_once::install();
        let mut db = ptr::null_mut();
        // SAFETY: both strings are NUL-terminated and outlive the call. Even most failures create a handle; `Handle` owns
        // and closes it.
        let code = unsafe {
            let vfs = vfs.as_ref().map_or(ptr::null(), |name| name.as_ptr());
            ffi::sqlite3_open_v2(path.as_ptr(), &mut db, flags, vfs)
        };
        let Some(db) = NonNull::new(db) else {
            return Err(Error::new(code, "SQLite could not allocate a connection"));
        };
        let handle = Rc::new(Handle {
            db,
            hooks: Box::<Hooks>::default(),
            given_rows: RefCell::default(),
            log_header: OnceCell::new(),
        });
        handle.check(code)?;
        let connection = Self { handle };
        ciphers::remove_functions(&connection.handle)?;
        full_text::make_innocuous(&connection.handle)?;
        series::register(&connection.handle)?;
        Ok(connection)
    }

    /// Prepares the first statement of `sql`. Set `keep` for a statement that will be used many times.
    ///
    /// # Errors
    /// Syntax and schema errors, with their offset if SQLite knows it.
    pub fn prepare<'sql>(&self, sql: &'sql str, keep: bool) -> Result<Prepared<'sql>> {
        let length = c_int::try_from(sql.len())
            .map_err(|_| Error::new(ffi::SQLITE_TOOBIG, "the SQL text is longer than 2 GiB"))?;
        let flags = if keep { ffi::SQLITE_PREPARE_PERSISTENT } else { 0 };
        let (mut raw, mut tail) = (ptr::null_mut(), ptr::null());
        // SAFETY: `sql` has `length` bytes and outlives the call; the out pointers are valid.
        let code = unsafe {
            let start = sql.as_ptr().cast();
            ffi::sqlite3_prepare_v3(self.handle.db.as_ptr(), start, length, flags, &mut raw, &mut tail)
        };
        self.handle.check(code)?;
        let used = if tail.is_null() {
            sql.len()
        } else {
            tail as usize - sql.as_ptr() as usize
        };
        Ok(Prepared {
            statement: NonNull::new(raw).map(|raw| Statement::new(raw, Rc::clone(&self.handle))),
            tail: sql.get(used..).unwrap_or(""),
        })
    }

    /// Runs every statement of a script and discards the rows.
    ///
    /// # Errors
    /// The first error ends the script; the statements before it are not undone.
    pub fn execute_script(&self, mut sql: &str) -> Result<()> {
        while !sql.is_empty() {
            let prepared = self.prepare(sql, false)?;
            if let Some(mut statement) = prepared.statement {
                statement.run()?;
            }
            if prepared.tail.len() == sql.len() {
                let message = "the SQL text contains a NUL character";
                return Err(Error::new(ffi::SQLITE_MISUSE, message));
            }
            sql = prepared.tail;
        }
        Ok(())
    }

    /// Returns the first column of the first row as text. For PRAGMAs that return a value.
    ///
    /// # Errors
    /// SQLite's errors.
    pub fn query_text(&self, sql: &str) -> Result<Option<String>> {
        let Some(mut statement) = self.prepare(sql, false)?.statement else {
            return Ok(None);
        };
        Ok(if statement.step()? {
            statement.column_text(0)
        } else {
            None
        })
    }

    /// Returns the declaration of a column. Without a schema, the table is looked up as in a statement.
    ///
    /// # Errors
    /// `SQLITE_ERROR` if there is no such table or column, or if the table is a view.
    pub fn column_metadata(&self, schema: Option<&str>, table: &str, column: &str) -> Result<ColumnMetadata> {
        let schema = schema.map(c_string).transpose()?;
        let (table, column) = (c_string(table)?, c_string(column)?);
        let (mut declared_type, mut collation) = (ptr::null(), ptr::null());
        // SAFETY: the handle is open, the names outlive the call, the out pointers are valid or null.
        let code = unsafe {
            ffi::sqlite3_table_column_metadata(
                self.handle.db.as_ptr(),
                schema.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
                table.as_ptr(),
                column.as_ptr(),
                &mut declared_type,
                &mut collation,
                ptr::null_mut(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        self.handle.check(code)?;
        // SAFETY: the strings are valid until the next call that changes the schema; they are copied now.
        Ok(unsafe {
            ColumnMetadata {
                declared_type: (!declared_type.is_null()).then(|| c_text::owned(declared_type)),
                collation: c_text::owned(collation),
            }
        })
    }

    /// Returns whether no transaction is open.
    pub fn is_autocommit(&self) -> bool {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_get_autocommit(self.handle.db.as_ptr()) != 0 }
    }

    /// Returns where the write-ahead log of the main database ends for the open read transaction, whose snapshot this
    /// takes if need be. `None` if there is no log, if the log is empty, or if a write transaction is open.
    pub fn log_position(&self) -> Option<LogPosition> {
        log_position::of_snapshot(&self.handle)
    }

    /// Returns how many commits the write-ahead log of the main database has had before the open write transaction,
    /// counted as in [`LogPosition`]. After the commit of this transaction, the log will have had one more. `None` if
    /// there is no log, or no write transaction is open.
    pub fn log_commits_before(&self) -> Option<u32> {
        self.is_writing()
            .then(|| log_position::commits_before(&self.handle))?
    }

    /// Returns the header of the write-ahead log of the main database, which other threads can read. `None` if the
    /// database has no log, or the connection cannot read it.
    pub fn log_header(&self) -> Option<LogHeader> {
        if let Some(header) = self.handle.log_header.get() {
            return Some(header.clone());
        }
        let has_log = self.query_text("PRAGMA main.journal_mode").ok()?? == "wal";
        let header = has_log.then(|| log_position::header(&self.handle))??;
        Some(self.handle.log_header.get_or_init(|| header).clone())
    }

    fn is_writing(&self) -> bool {
        // SAFETY: the handle is open, the name outlives the call.
        unsafe { ffi::sqlite3_txn_state(self.handle.db.as_ptr(), c"main".as_ptr()) == ffi::SQLITE_TXN_WRITE }
    }

    /// Returns the number of rows that the last statement changed; without triggers and cascades.
    pub fn changes(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_changes64(self.handle.db.as_ptr()) }
    }

    /// Returns the number of rows that all statements so far have changed, with triggers and cascades. Undone changes
    /// count, too.
    pub fn total_changes(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_total_changes64(self.handle.db.as_ptr()) }
    }

    /// Returns the row id of the last successful insert into a rowid table.
    pub fn last_insert_rowid(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_last_insert_rowid(self.handle.db.as_ptr()) }
    }

    /// Sets the value that [`last_insert_rowid`](Self::last_insert_rowid) returns until the next insert.
    pub fn set_last_insert_rowid(&self, rowid: i64) {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_set_last_insert_rowid(self.handle.db.as_ptr(), rowid) }
    }

    /// Returns whether the open transaction violates a foreign key that is checked at COMMIT.
    pub fn has_deferred_violations(&self) -> bool {
        self.status(ffi::SQLITE_DBSTATUS_DEFERRED_FKS) != 0
    }

    /// Copies pages from the write-ahead log of a schema (`main` or an attached name) to its database file.
    ///
    /// # Errors
    /// I/O errors. Locks of other connections are not errors: see [`Checkpointed::busy`].
    pub fn checkpoint(&self, schema: &str, how: Checkpoint) -> Result<Checkpointed> {
        let schema = c_string(schema)?;
        let mode = match how {
            Checkpoint::Passive => ffi::SQLITE_CHECKPOINT_PASSIVE,
            Checkpoint::Full => ffi::SQLITE_CHECKPOINT_FULL,
            Checkpoint::Restart => ffi::SQLITE_CHECKPOINT_RESTART,
            Checkpoint::Truncate => ffi::SQLITE_CHECKPOINT_TRUNCATE,
        };
        let (mut log, mut copied) = (-1, -1);
        // SAFETY: the handle is open, the name outlives the call, the out pointers are valid.
        let code = unsafe {
            ffi::sqlite3_wal_checkpoint_v2(
                self.handle.db.as_ptr(),
                schema.as_ptr(),
                mode,
                &mut log,
                &mut copied,
            )
        };
        let busy = code & 0xff == ffi::SQLITE_BUSY;
        self.handle.check(if busy { ffi::SQLITE_OK } else { code })?;
        Ok(Checkpointed {
            busy,
            log: u32::try_from(log).ok(),
            copied: u32::try_from(copied).ok(),
        })
    }

    /// Sets the key of the main database. Call this before anything is read. The key is not checked: with a wrong key,
    /// the first read fails with `SQLITE_NOTADB`.
    ///
    /// # Errors
    /// `SQLITE_ERROR` if [`can_encrypt`](crate::can_encrypt) is false.
    pub fn set_key(&self, key: &Key) -> Result<()> {
        ciphers::set_key(&self.handle, key)
    }

    /// Encrypts the main database, which must be encrypted already, with another key. One transaction writes every page to
    /// the write-ahead log. No other connection may use the log: it would decrypt pages with the wrong key.
    ///
    /// # Errors
    /// SQLite's. The old key stays valid.
    pub fn change_key(&self, key: &Key) -> Result<()> {
        ciphers::change_key(&self.handle, key)
    }

    /// Returns the first bytes of the main database file, or `None` if the file has fewer bytes. The connection must
    /// have no key, because it would decrypt the bytes.
    pub fn header(&self) -> Option<Header> {
        header::read(&self.handle)
    }

    /// Begins to copy the main database into that of another connection, whose content it replaces.
    ///
    /// # Errors
    /// `SQLITE_ERROR` if the target is in use, or is the source.
    pub fn copy_to(&self, target: &Self) -> Result<Backup> {
        Backup::begin(&self.handle, &target.handle)
    }

    /// Drops the cached schema and statistics, and the virtual tables with the statements that they keep; SQLite reads them again
    /// when it needs them.
    ///
    /// # Errors
    /// SQLite's errors.
    pub fn forget_schemas(&self) -> Result<()> {
        self.execute_script("PRAGMA writable_schema = RESET")
    }

    /// Writes the write-ahead log of a schema again and syncs it, after a failed sync that may have lost pages. A write
    /// transaction must be open.
    ///
    /// # Errors
    /// I/O errors; the log is then as uncertain as before.
    pub fn rewrite_log(&self, schema: &str) -> Result<()> {
        log_rewrite::rewrite(&self.handle, &c_string(schema)?)
    }

    /// Keeps the write-ahead log when this connection closes, even if it is the last one of its file.
    pub fn keep_log(&self) {
        // The bundled SQLite knows this setting, so the call cannot fail.
        let _ = self.configure(ffi::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    /// Sets whether SQL is refused that could damage the file, such as writes to shadow tables or to `sqlite_schema`.
    ///
    /// # Errors
    /// SQLite's errors.
    pub fn set_defensive(&self, on: bool) -> Result<()> {
        self.configure(ffi::SQLITE_DBCONFIG_DEFENSIVE, on)
    }

    /// Sets whether views, triggers and the rest of the schema may use functions and virtual tables that can do harm.
    ///
    /// # Errors
    /// SQLite's errors.
    pub fn set_trusted_schema(&self, on: bool) -> Result<()> {
        self.configure(ffi::SQLITE_DBCONFIG_TRUSTED_SCHEMA, on)
    }

    /// Sets whether a name in double quotes is taken as a text if nothing has this name.
    ///
    /// # Errors
    /// SQLite's errors.
    pub fn set_double_quoted_strings(&self, on: bool) -> Result<()> {
        self.configure(ffi::SQLITE_DBCONFIG_DQS_DML, on)?;
        self.configure(ffi::SQLITE_DBCONFIG_DQS_DDL, on)
    }

    /// Sets whether the triggers of the main database and of attached ones run. Temporary ones always do.
    ///
    /// # Errors
    /// SQLite's errors.
    pub fn set_triggers(&self, on: bool) -> Result<()> {
        self.configure(ffi::SQLITE_DBCONFIG_ENABLE_TRIGGER, on)
    }

    pub(crate) fn handle(&self) -> &Rc<Handle> {
        &self.handle
    }

    pub(crate) fn configure(&self, what: c_int, on: bool) -> Result<()> {
        // SAFETY: the handle is open; these settings take an int and a pointer, which may be null.
        let code = unsafe {
            ffi::sqlite3_db_config(
                self.handle.db.as_ptr(),
                what,
                c_int::from(on),
                ptr::null_mut::<c_int>(),
            )
        };
        self.handle.check(code)
    }

    /// Sets one of the [`limit`](crate::limit)s of the connection. Returns the previous value.
    pub fn set_limit(&self, limit: i32, most: i32) -> i32 {
        // SAFETY: the handle is open; an unknown limit changes nothing.
        unsafe { ffi::sqlite3_limit(self.handle.db.as_ptr(), limit, most) }
    }

    /// Returns how much memory the connection uses.
    pub fn memory(&self) -> Memory {
        Memory {
            cache: self.cache_bytes(),
            schema: self.status(ffi::SQLITE_DBSTATUS_SCHEMA_USED),
            statements: self.status(ffi::SQLITE_DBSTATUS_STMT_USED),
        }
    }

    /// Returns the bytes that the pages in the cache take.
    pub fn cache_bytes(&self) -> u64 {
        self.status(ffi::SQLITE_DBSTATUS_CACHE_USED)
    }

    fn status(&self, what: c_int) -> u64 {
        let (mut now, mut high) = (0, 0);
        // SAFETY: the handle is open, the out pointers are valid.
        unsafe { ffi::sqlite3_db_status(self.handle.db.as_ptr(), what, &mut now, &mut high, 0) };
        now.max(0) as u64
    }

    /// Calls `authorize` with each [`Action`] of the statements that are prepared from now on; `false` refuses the
    /// statement. SQLite calls `authorize` again whenever it re-prepares a statement.
    pub fn set_authorizer(&self, authorize: impl FnMut(Action<'_>) -> bool + 'static) {
        *self.handle.hooks.authorizer.borrow_mut() = Some(Box::new(authorize));
        // SAFETY: the context is the hooks, which live until the handle has been closed.
        unsafe {
            ffi::sqlite3_set_authorizer(self.handle.db.as_ptr(), Some(hooks::authorizer), self.context())
        };
    }

    /// Calls `observe` before each row change. Set the hook before preparing statements, or drop all of them and
    /// [forget the schemas](Self::forget_schemas) first: a `DELETE FROM t` that was prepared earlier may empty the
    /// table without calling the hook.
    pub fn set_preupdate_hook(&self, observe: impl FnMut(&PreUpdate<'_>) + 'static) {
        *self.handle.hooks.preupdate.borrow_mut() = Some(Box::new(observe));
        // SAFETY: as in `set_authorizer`.
        unsafe {
            ffi::sqlite3_preupdate_hook(self.handle.db.as_ptr(), Some(hooks::preupdate), self.context())
        };
    }

    /// Calls `go_on` about every `operations` instructions of SQLite's virtual machine; `false` interrupts the statement.
    pub fn set_progress_handler(&self, operations: u32, go_on: impl FnMut() -> bool + 'static) {
        *self.handle.hooks.progress.borrow_mut() = Some(Box::new(go_on));
        let operations = operations as c_int;
        // SAFETY: as in `set_authorizer`.
        unsafe {
            ffi::sqlite3_progress_handler(
                self.handle.db.as_ptr(),
                operations,
                Some(hooks::progress),
                self.context(),
            );
        }
    }

    /// Calls `may_commit` before each commit, when all virtual tables have written what they held back; `false` rolls
    /// the transaction back, with `SQLITE_CONSTRAINT_COMMITHOOK`. `may_commit` must not use the connection.
    pub fn set_commit_hook(&self, may_commit: impl FnMut() -> bool + 'static) {
        *self.handle.hooks.commit.borrow_mut() = Some(Box::new(may_commit));
        // SAFETY: as in `set_authorizer`.
        unsafe { ffi::sqlite3_commit_hook(self.handle.db.as_ptr(), Some(hooks::commit), self.context()) };
    }

    /// Calls `again` with the number of attempts so far when another connection holds the lock; `false` gives up.
    pub fn set_busy_handler(&self, again: impl FnMut(u32) -> bool + 'static) {
        *self.handle.hooks.busy.borrow_mut() = Some(Box::new(again));
        // SAFETY: as in `set_authorizer`.
        unsafe { ffi::sqlite3_busy_handler(self.handle.db.as_ptr(), Some(hooks::busy), self.context()) };
    }

    /// Calls `committed` after each commit with the schema that was written and the number of pages in its write-ahead
    /// log. This turns off SQLite's automatic checkpoints.
    pub fn set_wal_hook(&self, committed: impl FnMut(&str, u32) + 'static) {
        *self.handle.hooks.wal.borrow_mut() = Some(Box::new(committed));
        // SAFETY: as in `set_authorizer`.
        unsafe { ffi::sqlite3_wal_hook(self.handle.db.as_ptr(), Some(hooks::wal), self.context()) };
    }

    fn context(&self) -> *mut c_void {
        (&raw const *self.handle.hooks).cast_mut().cast()
    }
}

/// The URL by which SQLite opens a file as immutable.
fn immutable_url(path: &str) -> String {
    let escaped = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{escaped}?immutable=1")
}

/// Returns the version of the bundled SQLite, such as `3.54.1`.
#[allow(unsafe_code)]
pub fn version() -> String {
    // SAFETY: SQLite returns a static string.
    unsafe { c_text::owned(ffi::sqlite3_libversion()) }
}
