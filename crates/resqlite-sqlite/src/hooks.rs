//! Callbacks from SQLite into Rust: authorizer, pre-update hook, commit hook, progress handler, busy handler, write-ahead log hook.
//!
//! A panic must not unwind through SQLite's C frames. Each C entry point catches it, stores the payload in [`Hooks`]
//! and gives SQLite the refusing answer; the panic is resumed when the call into SQLite has returned to Rust.

use std::{
    any::Any,
    cell::RefCell,
    ffi::{c_char, c_int, c_void},
    panic::{self, AssertUnwindSafe},
    ptr::NonNull,
};

use resqlite_sqlite_sys as ffi;

use crate::{
    c_text,
    value::{self, ValueRef},
};

type Slot<F> = RefCell<Option<Box<F>>>;
type WalHook = dyn FnMut(&str, u32);

/// The Rust side of every callback of one connection.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) authorizer: Slot<dyn FnMut(Action<'_>) -> bool>,
    pub(crate) preupdate: Slot<dyn FnMut(&PreUpdate<'_>)>,
    pub(crate) commit: Slot<dyn FnMut() -> bool>,
    pub(crate) progress: Slot<dyn FnMut() -> bool>,
    pub(crate) busy: Slot<dyn FnMut(u32) -> bool>,
    pub(crate) wal: Slot<WalHook>,
    /// The payload of a panic in a callback, until it is resumed.
    panic: RefCell<Option<Box<dyn Any + Send>>>,
}

impl Hooks {
    /// Resumes the panic of a callback, if there was one. To be called after each call that can run callbacks.
    pub(crate) fn resume_panic(&self) {
        if let Some(payload) = self.panic.borrow_mut().take() {
            panic::resume_unwind(payload);
        }
    }

    /// Calls the hook in `slot`. An empty slot, a re-entrant call or a panic gives `refusal`.
    fn call<F: ?Sized, R>(&self, slot: &Slot<F>, refusal: R, call: impl FnOnce(&mut F) -> R) -> R {
        let guarded = || slot.try_borrow_mut().ok()?.as_mut().map(|hook| call(hook));
        match panic::catch_unwind(AssertUnwindSafe(guarded)) {
            Ok(answer) => answer.unwrap_or(refusal),
            Err(payload) => {
                *self.panic.borrow_mut() = Some(payload);
                refusal
            }
        }
    }
}

/// One thing that a statement would do. The authorizer sees it while SQLite prepares the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action<'a> {
    /// One of the codes in [`action`].
    pub code: i32,
    /// The first argument, whose meaning depends on the code: a table, the name of a PRAGMA, …
    pub first: Option<&'a str>,
    /// The second argument: a column, the value of a PRAGMA, …
    pub second: Option<&'a str>,
    /// The schema (`main`, `temp`, an attached name), for actions that have one.
    pub schema: Option<&'a str>,
    /// The innermost trigger or view that causes the action, if any.
    pub through: Option<&'a str>,
}

/// The codes of an [`Action`], under SQLite's names.
pub mod action {
    pub use resqlite_sqlite_sys::{
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

/// The kind of a row change, as the pre-update hook reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOperation {
    /// The row is new.
    Insert,
    /// The row gets new values.
    Update,
    /// The row is deleted, perhaps because `INSERT OR REPLACE` replaces it.
    Delete,
}

/// A row that is about to change, with its old and new values.
pub struct PreUpdate<'a> {
    db: NonNull<ffi::sqlite3>,
    /// The kind of change.
    pub operation: RowOperation,
    /// The schema of the table: `main`, `temp` or an attached name.
    pub schema: &'a str,
    /// The table. FTS5 and R-tree report changes of their shadow tables.
    pub table: &'a str,
    /// The row id before the change; meaningless for an insert, 0 for a WITHOUT ROWID table.
    pub old_rowid: i64,
    /// The row id after the change; meaningless for a delete, 0 for a WITHOUT ROWID table.
    pub new_rowid: i64,
}

#[allow(unsafe_code)]
impl PreUpdate<'_> {
    /// Returns the number of columns of the row.
    pub fn column_count(&self) -> usize {
        // SAFETY: a `PreUpdate` exists only inside the hook, where these calls are allowed.
        unsafe { ffi::sqlite3_preupdate_count(self.db.as_ptr()) as usize }
    }

    /// Returns 0 for a direct change, at least 1 for one by a trigger or a foreign-key action.
    pub fn depth(&self) -> usize {
        // SAFETY: as in `column_count`.
        unsafe { ffi::sqlite3_preupdate_depth(self.db.as_ptr()) as usize }
    }

    /// Returns the column that incremental BLOB I/O writes; SQLite reports such a write as a delete.
    pub fn blob_column(&self) -> Option<usize> {
        // SAFETY: as in `column_count`.
        usize::try_from(unsafe { ffi::sqlite3_preupdate_blobwrite(self.db.as_ptr()) }).ok()
    }

    /// Returns the value of a column before the change; `None` for an insert, or if there is no such column.
    pub fn old_value(&self, column: usize) -> Option<ValueRef<'_>> {
        self.value(ffi::sqlite3_preupdate_old, column)
    }

    /// Returns the value of a column after the change; `None` for a delete, or if there is no such column.
    pub fn new_value(&self, column: usize) -> Option<ValueRef<'_>> {
        self.value(ffi::sqlite3_preupdate_new, column)
    }

    fn value(
        &self,
        get: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *mut *mut ffi::sqlite3_value) -> c_int,
        column: usize,
    ) -> Option<ValueRef<'_>> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: called inside the hook. SQLite checks the operation and the column, and the value is valid until the
        // hook returns, which is longer than the borrow of `self`.
        unsafe {
            if get(self.db.as_ptr(), column as c_int, &mut raw) != ffi::SQLITE_OK {
                return None;
            }
            NonNull::new(raw).map(|value| value::read(value))
        }
    }
}

/// # Safety
/// `context` is the address of the `Hooks` of a live connection.
#[allow(unsafe_code)]
unsafe fn hooks<'a>(context: *mut c_void) -> &'a Hooks {
    // SAFETY: callbacks run only during calls on that connection, on its thread, and `Hooks` is never borrowed mutably.
    unsafe { &*context.cast::<Hooks>() }
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
    // SAFETY: SQLite passes the registered context, and strings that are valid during the callback.
    let (hooks, [first, second, schema, through]) = unsafe {
        let texts = [first, second, schema, through];
        (hooks(context), texts.map(|text| c_text::borrowed(text)))
    };
    let action = Action {
        code,
        first,
        second,
        schema,
        through,
    };
    let allowed = hooks.call(&hooks.authorizer, false, |hook| hook(action));
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
    // SAFETY: SQLite passes the registered context, and strings that are valid during the callback.
    let (hooks, schema, table) =
        unsafe { (hooks(context), c_text::borrowed(schema), c_text::borrowed(table)) };
    let Some(db) = NonNull::new(db) else { return };
    let operation = match operation {
        ffi::SQLITE_INSERT => RowOperation::Insert,
        ffi::SQLITE_UPDATE => RowOperation::Update,
        _ => RowOperation::Delete,
    };
    let event = PreUpdate {
        db,
        operation,
        // A name that is not UTF-8 cannot be compared with others: the empty name stands for "some table".
        schema: schema.unwrap_or(""),
        table: table.unwrap_or(""),
        old_rowid,
        new_rowid,
    };
    hooks.call(&hooks.preupdate, (), |hook| hook(&event));
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn commit(context: *mut c_void) -> c_int {
    // SAFETY: SQLite passes the registered context.
    let hooks = unsafe { hooks(context) };
    let goes_on = hooks.call(&hooks.commit, false, |hook| hook());
    c_int::from(!goes_on)
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn progress(context: *mut c_void) -> c_int {
    // SAFETY: SQLite passes the registered context.
    let hooks = unsafe { hooks(context) };
    let goes_on = hooks.call(&hooks.progress, false, |hook| hook());
    c_int::from(!goes_on)
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn busy(context: *mut c_void, attempt: c_int) -> c_int {
    // SAFETY: SQLite passes the registered context.
    let hooks = unsafe { hooks(context) };
    let tries_again = hooks.call(&hooks.busy, false, |hook| hook(attempt.max(0) as u32));
    c_int::from(tries_again)
}

#[allow(unsafe_code)]
pub(crate) unsafe extern "C" fn wal(
    context: *mut c_void,
    _db: *mut ffi::sqlite3,
    schema: *const c_char,
    pages: c_int,
) -> c_int {
    // SAFETY: SQLite passes the registered context, and a string that is valid during the callback.
    let (hooks, schema) = unsafe { (hooks(context), c_text::borrowed(schema)) };
    if let Some(schema) = schema {
        hooks.call(&hooks.wal, (), |hook| hook(schema, pages.max(0) as u32));
    }
    ffi::SQLITE_OK
}
