//! A connection: opened, used and closed by the one thread that owns it.

use std::{
    cell::RefCell,
    ffi::{CString, c_int, c_void},
    ptr::{self, NonNull},
    rc::Rc,
};

use libsqlite3_sys as ffi;

use crate::{
    error::{Error, Result},
    file_locks, full_text,
    handle::{self, Handle},
    hooks::{self, Action, Hooks, PreUpdate},
    log_rewrite,
    statement::Statement,
};

/// How a database file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only; the file must exist.
    ReadOnly,
    /// Read and write; the file is created where there is none.
    ReadWriteCreate,
}

/// How far a checkpoint goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// Copies what it can without waiting for anybody.
    Passive,
    /// Waits (busy handler) until all is copied and no reader is left in the log, then cuts the log file to nothing.
    Truncate,
}

/// What a checkpoint did, in pages; `None` where the database is not in WAL mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpointed {
    /// Pages in the log.
    pub log: Option<u32>,
    /// Pages of the log that are in the database file now.
    pub copied: Option<u32>,
}

/// Memory that a connection holds, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// The page cache.
    pub cache: u64,
    /// The parsed schema.
    pub schema: u64,
    /// Prepared statements.
    pub statements: u64,
}

/// What a table declares of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMetadata {
    /// The type, as it was written; `None` where there is none.
    pub declared_type: Option<String>,
    /// The name of the collation by which text is compared.
    pub collation: String,
}

/// A statement and the SQL text that follows it.
pub struct Prepared<'sql> {
    /// `None` when the text held only white space and comments.
    pub statement: Option<Statement>,
    /// What comes after the first statement.
    pub tail: &'sql str,
}

/// One connection to one database. It is not `Send`: a thread opens its own.
pub struct Connection {
    handle: Rc<Handle>,
}

#[allow(unsafe_code)]
impl Connection {
    /// Opens a database file, through the named VFS or the default one.
    ///
    /// # Errors
    /// What SQLite says; the message names no file, callers add it.
    pub fn open(path: &str, access: Access, vfs: Option<&str>) -> Result<Self> {
        let path = c_string(path)?;
        let vfs = vfs.map(c_string).transpose()?;
        let flags = ffi::SQLITE_OPEN_NOMUTEX
            | ffi::SQLITE_OPEN_EXRESCODE
            | match access {
                Access::ReadOnly => ffi::SQLITE_OPEN_READONLY,
                Access::ReadWriteCreate => ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE,
            };
        file_locks::install();
        let mut db = ptr::null_mut();
        // SAFETY: both strings are NUL-terminated and outlive the call; `db` receives a handle even on most
        // failures, which is owned (and so closed) by `Handle` from here on.
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
            panic: RefCell::new(None),
        });
        handle.check(code)?;
        let connection = Self { handle };
        full_text::make_innocuous(&connection.handle)?;
        Ok(connection)
    }

    /// Prepares the first statement of `sql`. `keep` hints that it will be used many times.
    ///
    /// # Errors
    /// SQLite's syntax and schema errors, with the offset where it knows one.
    pub fn prepare<'sql>(&self, sql: &'sql str, keep: bool) -> Result<Prepared<'sql>> {
        let length =
            c_int::try_from(sql.len()).map_err(|_| Error::new(ffi::SQLITE_TOOBIG, "SQL text too long"))?;
        let flags = if keep { ffi::SQLITE_PREPARE_PERSISTENT } else { 0 };
        let (mut raw, mut tail) = (ptr::null_mut(), ptr::null());
        // SAFETY: `sql` is valid for `length` bytes and outlives the call; out pointers are live.
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

    /// Runs every statement of a script and drops the rows.
    ///
    /// # Errors
    /// The first error ends the script; statements before it stay done.
    pub fn execute_script(&self, mut sql: &str) -> Result<()> {
        while !sql.is_empty() {
            let prepared = self.prepare(sql, false)?;
            if let Some(mut statement) = prepared.statement {
                while statement.step()? {}
            }
            if prepared.tail.len() == sql.len() {
                let message = "the SQL text contains a NUL character";
                return Err(Error::new(ffi::SQLITE_MISUSE, message));
            }
            sql = prepared.tail;
        }
        Ok(())
    }

    /// The first column of the first row, as text. For PRAGMAs that answer.
    ///
    /// # Errors
    /// What SQLite says.
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

    /// What a table declares of a column. Without a schema the table is looked for as in a statement.
    ///
    /// # Errors
    /// `SQLITE_ERROR` where there is no such table or column, or the table is a view.
    pub fn column_metadata(&self, schema: Option<&str>, table: &str, column: &str) -> Result<ColumnMetadata> {
        let schema = schema.map(c_string).transpose()?;
        let (table, column) = (c_string(table)?, c_string(column)?);
        let (mut declared_type, mut collation) = (ptr::null(), ptr::null());
        // SAFETY: the handle is open, names outlive the call, out pointers are live; null ones are not filled.
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
        // SAFETY: SQLite's strings live until the schema changes, which needs another call; they are copied now.
        Ok(unsafe {
            ColumnMetadata {
                declared_type: (!declared_type.is_null()).then(|| handle::text(declared_type)),
                collation: handle::text(collation),
            }
        })
    }

    /// Whether no transaction is open.
    pub fn is_autocommit(&self) -> bool {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_get_autocommit(self.handle.db.as_ptr()) != 0 }
    }

    /// Rows that the last statement changed itself (triggers and cascades not counted).
    pub fn changes(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_changes64(self.handle.db.as_ptr()) }
    }

    /// Rows changed since the connection was opened, triggers and cascades included. Statements that were rolled
    /// back do not count.
    pub fn total_changes(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_total_changes64(self.handle.db.as_ptr()) }
    }

    /// Row id of the last successful insert into a rowid table.
    pub fn last_insert_rowid(&self) -> i64 {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_last_insert_rowid(self.handle.db.as_ptr()) }
    }

    /// Sets what [`last_insert_rowid`](Self::last_insert_rowid) gives until the next insert.
    pub fn set_last_insert_rowid(&self, rowid: i64) {
        // SAFETY: the handle is open.
        unsafe { ffi::sqlite3_set_last_insert_rowid(self.handle.db.as_ptr(), rowid) }
    }

    /// Whether rows of the open transaction violate foreign keys that are checked at COMMIT.
    pub fn has_deferred_violations(&self) -> bool {
        self.status(ffi::SQLITE_DBSTATUS_DEFERRED_FKS) != 0
    }

    /// Moves pages from the write-ahead log of a schema (`main` or an attached name) into its database file.
    ///
    /// # Errors
    /// `SQLITE_BUSY` where a reader or another process is in the way, I/O errors.
    pub fn checkpoint(&self, schema: &str, how: Checkpoint) -> Result<Checkpointed> {
        let schema = c_string(schema)?;
        let mode = match how {
            Checkpoint::Passive => ffi::SQLITE_CHECKPOINT_PASSIVE,
            Checkpoint::Truncate => ffi::SQLITE_CHECKPOINT_TRUNCATE,
        };
        let (mut log, mut copied) = (-1, -1);
        // SAFETY: the handle is open, the name outlives the call, out pointers are live.
        let code = unsafe {
            ffi::sqlite3_wal_checkpoint_v2(
                self.handle.db.as_ptr(),
                schema.as_ptr(),
                mode,
                &mut log,
                &mut copied,
            )
        };
        self.handle.check(code)?;
        Ok(Checkpointed {
            log: u32::try_from(log).ok(),
            copied: u32::try_from(copied).ok(),
        })
    }

    /// Forgets the definitions and statistics that were read; they are read again when they are needed.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn forget_schemas(&self) -> Result<()> {
        self.execute_script("PRAGMA writable_schema = RESET")
    }

    /// Writes the write-ahead log of a schema once more and syncs it, after a sync that failed and may have dropped
    /// what it was to write. The connection must have a transaction open that writes.
    ///
    /// # Errors
    /// I/O errors; then the log is as doubtful as before.
    pub fn rewrite_log(&self, schema: &str) -> Result<()> {
        log_rewrite::rewrite(&self.handle, &c_string(schema)?)
    }

    /// Leaves the write-ahead log as it is when this connection closes as the last one of its file.
    pub fn keep_log(&self) {
        // The built-in SQLite knows this setting, so it cannot fail.
        let _ = self.configure(ffi::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    /// Sets whether SQL is kept from what can damage the file: writing to shadow tables, changing the schema by hand.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn set_defensive(&self, on: bool) -> Result<()> {
        self.configure(ffi::SQLITE_DBCONFIG_DEFENSIVE, on)
    }

    /// Sets whether views, triggers and other parts of the schema may use functions and virtual tables that can do harm.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn set_trusted_schema(&self, on: bool) -> Result<()> {
        self.configure(ffi::SQLITE_DBCONFIG_TRUSTED_SCHEMA, on)
    }

    fn configure(&self, what: c_int, on: bool) -> Result<()> {
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

    /// Sets one of the [`limit`](crate::limit)s.
    pub fn set_limit(&self, limit: i32, most: i32) {
        // SAFETY: the handle is open; an unknown limit changes nothing.
        unsafe { ffi::sqlite3_limit(self.handle.db.as_ptr(), limit, most) };
    }

    /// Memory that this connection holds.
    pub fn memory(&self) -> Memory {
        Memory {
            cache: self.status(ffi::SQLITE_DBSTATUS_CACHE_USED),
            schema: self.status(ffi::SQLITE_DBSTATUS_SCHEMA_USED),
            statements: self.status(ffi::SQLITE_DBSTATUS_STMT_USED),
        }
    }

    fn status(&self, what: c_int) -> u64 {
        let (mut now, mut high) = (0, 0);
        // SAFETY: the handle is open, out pointers are live.
        unsafe { ffi::sqlite3_db_status(self.handle.db.as_ptr(), what, &mut now, &mut high, 0) };
        now.max(0) as u64
    }

    /// Asks `authorize` about everything that statements prepared from now on want to do; `false` refuses.
    /// SQLite asks again whenever it prepares a statement anew.
    pub fn set_authorizer(&self, authorize: impl FnMut(Action<'_>) -> bool + 'static) {
        *self.handle.hooks.authorizer.borrow_mut() = Some(Box::new(authorize));
        // SAFETY: the context is the handle, which outlives every call that can cause the callback.
        unsafe {
            ffi::sqlite3_set_authorizer(self.handle.db.as_ptr(), Some(hooks::authorizer), self.context())
        };
    }

    /// Calls `observe` before each row change. Set it before preparing anything: a `DELETE FROM t` prepared
    /// earlier may empty the table without telling.
    pub fn set_preupdate_hook(&self, observe: impl FnMut(&PreUpdate<'_>) + 'static) {
        *self.handle.hooks.preupdate.borrow_mut() = Some(Box::new(observe));
        // SAFETY: as in `set_authorizer`.
        unsafe {
            ffi::sqlite3_preupdate_hook(self.handle.db.as_ptr(), Some(hooks::preupdate), self.context())
        };
    }

    /// Calls `go_on` about every `operations` virtual-machine operations; `false` interrupts the statement.
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

    /// Calls `again` with the number of attempts so far when another connection holds a lock; `false` gives up.
    pub fn set_busy_handler(&self, again: impl FnMut(u32) -> bool + 'static) {
        *self.handle.hooks.busy.borrow_mut() = Some(Box::new(again));
        // SAFETY: as in `set_authorizer`.
        unsafe { ffi::sqlite3_busy_handler(self.handle.db.as_ptr(), Some(hooks::busy), self.context()) };
    }

    /// Calls `committed` after each commit with the schema written to and the pages in its write-ahead log. Switches
    /// SQLite's own automatic checkpoints off.
    pub fn set_wal_hook(&self, committed: impl FnMut(&str, u32) + 'static) {
        *self.handle.hooks.wal.borrow_mut() = Some(Box::new(committed));
        // SAFETY: as in `set_authorizer`.
        unsafe { ffi::sqlite3_wal_hook(self.handle.db.as_ptr(), Some(hooks::wal), self.context()) };
    }

    fn context(&self) -> *mut c_void {
        Rc::as_ptr(&self.handle).cast_mut().cast()
    }
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(ffi::SQLITE_MISUSE, "a name must not contain NUL characters"))
}

/// The version of the bundled SQLite, such as `3.54.1`.
#[allow(unsafe_code)]
pub fn version() -> String {
    // SAFETY: SQLite returns a static string.
    unsafe { handle::text(ffi::sqlite3_libversion()) }
}
