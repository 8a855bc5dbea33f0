//! A prepared statement: bind, step, read columns.

use std::{
    ffi::{CString, c_int},
    ptr::NonNull,
    rc::Rc,
    sync::Arc,
};

use resqlite_sqlite_sys as ffi;

use crate::{
    c_text,
    error::Result,
    handle::Handle,
    value::{self, ValueRef},
};

/// A prepared statement. It keeps its connection open.
pub struct Statement {
    raw: NonNull<ffi::sqlite3_stmt>,
    handle: Rc<Handle>,
    /// Bytes that bound values may point into. Invariant: no binding points into other bytes, and these bytes do not
    /// change.
    held: Option<Arc<[u8]>>,
}

/// The origin of a column of a result. Every field is `None` for an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnOrigin {
    /// The type in its CREATE TABLE, as it was written.
    pub declared_type: Option<String>,
    /// The table.
    pub table: Option<String>,
    /// The column of that table.
    pub column: Option<String>,
    /// The database: `main`, `temp`, or the name of an attached one.
    pub database: Option<String>,
}

#[allow(unsafe_code)]
impl Statement {
    pub(crate) fn new(raw: NonNull<ffi::sqlite3_stmt>, handle: Rc<Handle>) -> Self {
        Self {
            raw,
            handle,
            held: None,
        }
    }

    /// Advances to the next row: `true` if there is one, `false` if the statement has finished.
    ///
    /// # Errors
    /// SQLite's errors. The statement must be [reset](Self::reset) before it is used again.
    #[inline]
    pub fn step(&mut self) -> Result<bool> {
        // SAFETY: the statement is live and owned by this thread.
        match unsafe { ffi::sqlite3_step(self.raw.as_ptr()) } {
            ffi::SQLITE_ROW => Ok(true),
            ffi::SQLITE_DONE => {
                self.handle.hooks.resume_panic();
                Ok(false)
            }
            code => {
                self.handle.hooks.resume_panic();
                Err(self.handle.error(code))
            }
        }
    }

    /// Steps to the end; the rows are dropped.
    ///
    /// # Errors
    /// As those of [`step`](Self::step).
    pub fn run(&mut self) -> Result<()> {
        while self.step()? {}
        Ok(())
    }

    /// Ends the execution, so that the statement can run again. Bound values are kept.
    #[inline]
    pub fn reset(&mut self) {
        // SAFETY: the statement is live. The result code repeats an error that `step` has reported.
        unsafe { ffi::sqlite3_reset(self.raw.as_ptr()) };
    }

    /// Sets all parameters to NULL, frees the memory of the bound values, and drops the bytes that are
    /// [held](Self::hold). Ends the present run, because it would read the bound values.
    pub fn clear_bindings(&mut self) {
        self.reset();
        // SAFETY: the statement is live, and does not run.
        unsafe { ffi::sqlite3_clear_bindings(self.raw.as_ptr()) };
        self.held = None;
    }

    /// Holds bytes until [`clear_bindings`](Self::clear_bindings): texts and BLOBs within these bytes are bound without
    /// a copy. If other bytes are held, the bindings are cleared first.
    pub fn hold(&mut self, bytes: &Arc<[u8]>) {
        if !self.held.as_ref().is_some_and(|held| Arc::ptr_eq(held, bytes)) {
            self.release();
            self.held = Some(Arc::clone(bytes));
        }
    }

    /// Clears the bindings if bytes are [held](Self::hold).
    pub fn release(&mut self) {
        if self.held.is_some() {
            self.clear_bindings();
        }
    }

    /// Returns the destructor with which bytes are bound: SQLite copies them, unless they are held.
    #[inline]
    fn copying(&self, bytes: &[u8]) -> ffi::sqlite3_destructor_type {
        let is_held = self.held.as_ref().is_some_and(|held| {
            let (held, bytes) = (held.as_ptr_range(), bytes.as_ptr_range());
            held.start <= bytes.start && bytes.end <= held.end
        });
        if is_held {
            ffi::SQLITE_STATIC
        } else {
            ffi::SQLITE_TRANSIENT()
        }
    }

    /// Returns whether the statement does not write to the database file itself. BEGIN, COMMIT and the like are
    /// read-only in this sense.
    pub fn is_read_only(&self) -> bool {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_stmt_readonly(self.raw.as_ptr()) != 0 }
    }

    /// Returns whether this is an `EXPLAIN` or `EXPLAIN QUERY PLAN`.
    pub fn is_explain(&self) -> bool {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_stmt_isexplain(self.raw.as_ptr()) != 0 }
    }

    /// Returns how often SQLite has re-prepared the statement because the schema had changed.
    pub fn reprepared(&self) -> u32 {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_stmt_status(self.raw.as_ptr(), ffi::SQLITE_STMTSTATUS_REPREPARE, 0) as u32 }
    }

    /// Returns the value of a column if it is an INTEGER.
    pub fn integer(&self, index: usize) -> Option<i64> {
        match self.column(index) {
            ValueRef::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// Returns the number of columns; 0 for a statement that returns no rows.
    #[inline]
    pub fn column_count(&self) -> usize {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_column_count(self.raw.as_ptr()) as usize }
    }

    /// Returns the name of a column.
    pub fn column_name(&self, column: usize) -> String {
        // SAFETY: the statement is live; SQLite returns null if there is no such column.
        unsafe { c_text::owned(ffi::sqlite3_column_name(self.raw.as_ptr(), column as c_int)) }
    }

    /// Returns where a column of the result comes from, and its declared type.
    pub fn column_origin(&self, column: usize) -> ColumnOrigin {
        let (raw, column) = (self.raw.as_ptr(), column as c_int);
        // SAFETY: the statement is live. Each string is null or NUL-terminated, and is copied before the next call.
        unsafe {
            ColumnOrigin {
                declared_type: c_text::owned_or_none(ffi::sqlite3_column_decltype(raw, column)),
                table: c_text::owned_or_none(ffi::sqlite3_column_table_name(raw, column)),
                column: c_text::owned_or_none(ffi::sqlite3_column_origin_name(raw, column)),
                database: c_text::owned_or_none(ffi::sqlite3_column_database_name(raw, column)),
            }
        }
    }

    /// Returns the value of a column of the current row; NULL if there is no row or no such column.
    #[inline]
    pub fn column(&self, column: usize) -> ValueRef<'_> {
        // SAFETY: the statement is live, and only this thread uses its connection, so it may read an unprotected
        // value. Stepping and resetting need `&mut self`, so the row does not change during the borrow.
        unsafe {
            let value = ffi::sqlite3_column_value(self.raw.as_ptr(), column as c_int);
            NonNull::new(value).map_or(ValueRef::Null, |value| value::read(value))
        }
    }

    /// Returns a column of any type as text; `None` for NULL.
    pub fn column_text(&self, column: usize) -> Option<String> {
        match self.column(column) {
            ValueRef::Null => None,
            ValueRef::Integer(value) => Some(value.to_string()),
            ValueRef::Real(value) => Some(value.to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
        }
    }

    /// Returns the largest index of a parameter; without `?NNN` this is the number of parameters.
    #[inline]
    pub fn parameter_count(&self) -> usize {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_bind_parameter_count(self.raw.as_ptr()) as usize }
    }

    /// Returns the name of a parameter with its prefix; `None` for a plain `?`. The first index is 1.
    pub fn parameter_name(&self, index: usize) -> Option<String> {
        // SAFETY: the statement is live; null means that the parameter has no name.
        unsafe {
            c_text::owned_or_none(ffi::sqlite3_bind_parameter_name(
                self.raw.as_ptr(),
                index as c_int,
            ))
        }
    }

    /// Returns the index of a parameter. The name includes the prefix (`:`, `@`, `$` or `?`); the first index is 1.
    pub fn parameter_index(&self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        // SAFETY: the statement is live, the name is NUL-terminated and outlives the call.
        let index = unsafe { ffi::sqlite3_bind_parameter_index(self.raw.as_ptr(), name.as_ptr()) };
        (index > 0).then_some(index as usize)
    }

    /// Binds a value; SQLite copies the bytes of text and BLOBs, unless they are [held](Self::hold). The first parameter is 1.
    ///
    /// # Errors
    /// `SQLITE_RANGE` if there is no such parameter, `SQLITE_TOOBIG`, `SQLITE_NOMEM`.
    #[inline]
    pub fn bind(&mut self, parameter: usize, value: ValueRef<'_>) -> Result<()> {
        let (raw, index) = (self.raw.as_ptr(), parameter as c_int);
        // SAFETY: the statement is live. SQLite copies bytes that are not held before the call returns. SQLite reads
        // held bytes until the parameter is bound anew, the bindings are cleared or the statement is finalized. The
        // statement keeps the held bytes until then, and nobody can change them, since an `Arc` that is shared gives no
        // exclusive access.
        let code = unsafe {
            match value {
                ValueRef::Null => ffi::sqlite3_bind_null(raw, index),
                ValueRef::Integer(value) => ffi::sqlite3_bind_int64(raw, index, value),
                ValueRef::Real(value) => ffi::sqlite3_bind_double(raw, index, value),
                ValueRef::Text(bytes) => {
                    let (start, length, copy) =
                        (bytes.as_ptr().cast(), bytes.len() as u64, self.copying(bytes));
                    ffi::sqlite3_bind_text64(raw, index, start, length, copy, ffi::SQLITE_UTF8 as u8)
                }
                // A null pointer would bind NULL; a `zeroblob` of length 0 is an empty BLOB.
                ValueRef::Blob([]) => ffi::sqlite3_bind_zeroblob(raw, index, 0),
                ValueRef::Blob(bytes) => {
                    let (start, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
                    ffi::sqlite3_bind_blob64(raw, index, start, length, self.copying(bytes))
                }
            }
        };
        if code == ffi::SQLITE_OK {
            Ok(())
        } else {
            Err(self.handle.error(code))
        }
    }
}

impl Drop for Statement {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the statement is live and not used afterwards; its connection is still open.
        unsafe { ffi::sqlite3_finalize(self.raw.as_ptr()) };
    }
}
