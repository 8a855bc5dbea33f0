//! Callbacks from SQLite into Rust: authorizer, pre-update hook, progress, busy and write-ahead log.
//!
//! Each C entry point catches panics, keeps the payload in the handle, and answers SQLite with the refusing
//! value; the call that was under way goes on unwinding when it is back in Rust.

use std::{
    cell::RefCell,
    ffi::{CStr, c_char, c_int, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
};

use libsqlite3_sys as ffi;

use crate::{handle::Handle, value, value::ValueRef};

type Slot<F> = RefCell<Option<Box<F>>>;
type WalHook = dyn FnMut(&str, u32);

/// The Rust side of every callback of one connection.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) authorizer: Slot<dyn FnMut(Action<'_>) -> bool>,
    pub(crate) preupdate: Slot<dyn FnMut(&PreUpdate<'_>)>,
    pub(crate) progress: Slot<dyn FnMut() -> bool>,
    pub(crate) busy: Slot<dyn FnMut(u32) -> bool>,
    pub(crate) wal: Slot<WalHook>,
}

/// One thing that a statement wants to do, as the authorizer is told while the statement is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action<'a> {
    /// What: see [`action`].
    pub code: i32,
    /// First detail; its meaning depends on the code (table, PRAGMA name, …).
    pub first: Option<&'a str>,
    /// Second detail (column, PRAGMA value, …).
    pub second: Option<&'a str>,
    /// Schema (`main`, `temp`, an attached name), if it applies.
    pub schema: Option<&'a str>,
    /// The trigger or view that causes the action, if any.
    pub through: Option<&'a str>,
}

/// Codes of [`Action`], named as SQLite names them.
pub mod action {
    pub use libsqlite3_sys::{
        SQLITE_ALTER_TABLE as ALTER_TABLE, SQLITE_ANALYZE as ANALYZE, SQLITE_ATTACH as ATTACH,
        SQLITE_CREATE_INDEX as CREATE_INDEX, SQLITE_CREATE_TABLE as CREATE_TABLE,
        SQLITE_CREATE_TEMP_INDEX as CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TABLE as CREATE_TEMP_TABLE,
        SQLITE_CREATE_TEMP_TRIGGER as CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_VIEW as CREATE_TEMP_VIEW,
        SQLITE_CREATE_TRIGGER as CREATE_TRIGGER, SQLITE_CREATE_VIEW as CREATE_VIEW,
        SQLITE_CREATE_VTABLE as CREATE_VTABLE, SQLITE_DELETE as DELETE, SQLITE_DETACH as DETACH,
        SQLITE_DROP_INDEX as DROP_INDEX, SQLITE_DROP_TABLE as DROP_TABLE,
        SQLITE_DROP_TEMP_INDEX as DROP_TEMP_INDEX, SQLITE_DROP_TEMP_TABLE as DROP_TEMP_TABLE,
        SQLITE_DROP_TEMP_TRIGGER as DROP_TEMP_TRIGGER, SQLITE_DROP_TEMP_VIEW as DROP_TEMP_VIEW,
        SQLITE_DROP_TRIGGER as DROP_TRIGGER, SQLITE_DROP_VIEW as DROP_VIEW,
        SQLITE_DROP_VTABLE as DROP_VTABLE, SQLITE_FUNCTION as FUNCTION, SQLITE_INSERT as INSERT,
        SQLITE_PRAGMA as PRAGMA, SQLITE_READ as READ, SQLITE_REINDEX as REINDEX,
        SQLITE_SAVEPOINT as SAVEPOINT, SQLITE_TRANSACTION as TRANSACTION, SQLITE_UPDATE as UPDATE,
    };
}

/// What happens to a row, as the pre-update hook names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOperation {
    /// The row is new.
    Insert,
    /// The row gets new values.
    Update,
    /// The row goes (also: `INSERT OR REPLACE` pushes it out).
    Delete,
}

/// One row about to change, with its old and new values.
pub struct PreUpdate<'a> {
    db: NonNull<ffi::sqlite3>,
    /// What happens.
    pub operation: RowOperation,
    /// Schema of the table: `main`, `temp` or an attached name.
    pub schema: &'a str,
    /// The table. For FTS5 and R-tree these are the shadow tables.
    pub table: &'a str,
    /// Row id before the change; meaningless for an insert and 0 for WITHOUT ROWID tables.
    pub old_rowid: i64,
    /// Row id after the change; meaningless for a delete and 0 for WITHOUT ROWID tables.
    pub new_rowid: i64,
}

#[allow(unsafe_code)]
impl PreUpdate<'_> {
    /// How many columns the row has.
    pub fn column_count(&self) -> usize {
        // SAFETY: a `PreUpdate` exists only inside the hook, where these calls are allowed.
        unsafe { ffi::sqlite3_preupdate_count(self.db.as_ptr()) as usize }
    }

    /// 0 for a direct change, 1 and more for triggers and foreign-key actions.
    pub fn depth(&self) -> usize {
        // SAFETY: as in `column_count`.
        unsafe { ffi::sqlite3_preupdate_depth(self.db.as_ptr()) as usize }
    }

    /// The column written through the incremental BLOB interface, which fires as a delete.
    pub fn blob_column(&self) -> Option<usize> {
        // SAFETY: as in `column_count`.
        usize::try_from(unsafe { ffi::sqlite3_preupdate_blobwrite(self.db.as_ptr()) }).ok()
    }

    /// The value of a column before the change; `None` for an insert or a column that does not exist.
    pub fn old_value(&self, column: usize) -> Option<ValueRef<'_>> {
        self.value(ffi::sqlite3_preupdate_old, column)
    }

    /// The value of a column after the change; `None` for a delete or a column that does not exist.
    pub fn new_value(&self, column: usize) -> Option<ValueRef<'_>> {
        self.value(ffi::sqlite3_preupdate_new, column)
    }

    fn value(
        &self,
        get: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *mut *mut ffi::sqlite3_value) -> c_int,
        column: usize,
    ) -> Option<ValueRef<'_>> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: called inside the hook; SQLite checks operation and column range and returns a value that
        // stays valid until the hook returns, which outlives the borrow of `self`.
        unsafe {
            if get(self.db.as_ptr(), column as c_int, &mut raw) != ffi::SQLITE_OK {
                return None;
            }
            NonNull::new(raw).map(|value| value::read(value))
        }
    }
}

/// Runs a callback; a panic or a re-entrant call gives `refusal`.
fn guarded<R>(handle: &Handle, refusal: R, run: impl FnOnce() -> Option<R>) -> R {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(answer) => answer.unwrap_or(refusal),
        Err(payload) => {
            *handle.panic.borrow_mut() = Some(payload);
            refusal
        }
    }
}

/// # Safety
/// `context` is the address of the live `Handle` that registered the callback.
#[allow(unsafe_code)]
unsafe fn handle<'a>(context: *mut c_void) -> &'a Handle {
    // SAFETY: callbacks run only inside calls made through the handle, on its thread.
    unsafe { &*context.cast::<Handle>() }
}

/// # Safety
/// `text` is null or NUL-terminated and lives during `'a`.
#[allow(unsafe_code)]
unsafe fn name<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn authorizer(
    context: *mut c_void,
    code: c_int,
    first: *const c_char,
    second: *const c_char,
    schema: *const c_char,
    through: *const c_char,
) -> c_int {
    // SAFETY: SQLite passes back the registered context and strings that live during the callback.
    let (handle, action) = unsafe {
        let [first, second, schema, through] = [first, second, schema, through].map(|text| name(text));
        (
            handle(context),
            Action {
                code,
                first,
                second,
                schema,
                through,
            },
        )
    };
    let allowed = guarded(handle, false, || {
        handle
            .hooks
            .authorizer
            .try_borrow_mut()
            .ok()?
            .as_mut()
            .map(|hook| hook(action))
    });
    if allowed { ffi::SQLITE_OK } else { ffi::SQLITE_DENY }
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn preupdate(
    context: *mut c_void,
    db: *mut ffi::sqlite3,
    operation: c_int,
    schema: *const c_char,
    table: *const c_char,
    old_rowid: i64,
    new_rowid: i64,
) {
    // SAFETY: SQLite passes back the registered context and strings that live during the callback.
    let (handle, schema, table) = unsafe { (handle(context), name(schema), name(table)) };
    let operation = match operation {
        ffi::SQLITE_INSERT => RowOperation::Insert,
        ffi::SQLITE_UPDATE => RowOperation::Update,
        _ => RowOperation::Delete,
    };
    guarded(handle, (), || {
        let event = PreUpdate {
            db: NonNull::new(db)?,
            operation,
            // A name that is no UTF-8 cannot be matched: the empty name stands for "some table".
            schema: schema.unwrap_or(""),
            table: table.unwrap_or(""),
            old_rowid,
            new_rowid,
        };
        handle
            .hooks
            .preupdate
            .try_borrow_mut()
            .ok()?
            .as_mut()
            .map(|hook| hook(&event))
    });
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn progress(context: *mut c_void) -> c_int {
    // SAFETY: SQLite passes back the registered context.
    let handle = unsafe { handle(context) };
    let go_on = guarded(handle, false, || {
        handle
            .hooks
            .progress
            .try_borrow_mut()
            .ok()?
            .as_mut()
            .map(|hook| hook())
    });
    c_int::from(!go_on)
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn busy(context: *mut c_void, attempt: c_int) -> c_int {
    // SAFETY: SQLite passes back the registered context.
    let handle = unsafe { handle(context) };
    let again = guarded(handle, false, || {
        handle
            .hooks
            .busy
            .try_borrow_mut()
            .ok()?
            .as_mut()
            .map(|hook| hook(attempt.max(0) as u32))
    });
    c_int::from(again)
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn wal(
    context: *mut c_void,
    _db: *mut ffi::sqlite3,
    schema: *const c_char,
    pages: c_int,
) -> c_int {
    // SAFETY: SQLite passes back the registered context and a string that lives during the callback.
    let (handle, schema) = unsafe { (handle(context), name(schema)) };
    if let Some(schema) = schema {
        guarded(handle, (), || {
            handle
                .hooks
                .wal
                .try_borrow_mut()
                .ok()?
                .as_mut()
                .map(|hook| hook(schema, pages.max(0) as u32))
        });
    }
    ffi::SQLITE_OK
}
