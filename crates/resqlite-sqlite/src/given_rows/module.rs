//! The virtual table: what SQLite calls.
#![allow(unsafe_code)]

use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
    rc::Rc,
};

use resqlite_sqlite_sys as ffi;

use super::table::Table;
use crate::value;

/// A virtual table. Its first field is the part that SQLite knows.
#[repr(C)]
struct VirtualTable {
    base: ffi::sqlite3_vtab,
    table: Rc<Table>,
}

/// A cursor. Its first field is the part that SQLite knows.
#[repr(C)]
struct Cursor {
    base: ffi::sqlite3_vtab_cursor,
    show: u64,
    row: usize,
    rows: usize,
}

pub(super) static MODULE: ffi::sqlite3_module = ffi::sqlite3_module {
    // Without xCreate, the table need not be created: it is always there.
    xConnect: Some(connect),
    xBestIndex: Some(plan),
    xDisconnect: Some(disconnect),
    xOpen: Some(open),
    xClose: Some(close),
    xFilter: Some(start),
    xNext: Some(next),
    xEof: Some(is_over),
    xColumn: Some(column),
    xRowid: Some(rowid),
    ..ffi::sqlite3_module::EMPTY
};

pub(super) unsafe extern "C" fn destroy(data: *mut c_void) {
    // SAFETY: `register_given_rows` made the pointer from an Rc, and SQLite passes it once.
    unsafe { drop(Rc::from_raw(data.cast::<Table>().cast_const())) };
}

unsafe extern "C" fn connect(
    db: *mut ffi::sqlite3,
    data: *mut c_void,
    _: c_int,
    _: *const *const c_char,
    made: *mut *mut ffi::sqlite3_vtab,
    message: *mut *mut c_char,
) -> c_int {
    // SAFETY: SQLite calls this while it makes the table known: the handle is open, the out pointers are valid, and the data
    // is the Rc of `register_given_rows`, which stays SQLite's.
    unsafe {
        let table = data.cast::<Table>().cast_const();
        let code = ffi::sqlite3_declare_vtab(db, (*table).declaration().as_ptr());
        if code != ffi::SQLITE_OK {
            *message = ffi::sqlite3_mprintf(c"%s".as_ptr(), ffi::sqlite3_errmsg(db));
            return code;
        }
        ffi::sqlite3_vtab_config(db, ffi::SQLITE_VTAB_INNOCUOUS);
        Rc::increment_strong_count(table);
        let virtual_table = VirtualTable {
            base: ffi::sqlite3_vtab {
                pModule: &raw const MODULE,
                nRef: 0,
                zErrMsg: ptr::null_mut(),
            },
            table: Rc::from_raw(table),
        };
        *made = Box::into_raw(Box::new(virtual_table)).cast();
        code
    }
}

unsafe extern "C" fn disconnect(table: *mut ffi::sqlite3_vtab) -> c_int {
    // SAFETY: `connect` made the table, and SQLite ends it once.
    unsafe { drop(Box::from_raw(table.cast::<VirtualTable>())) };
    ffi::SQLITE_OK
}

/// Plans to read all rows in their order. The rows are few, so a join begins with them.
unsafe extern "C" fn plan(_: *mut ffi::sqlite3_vtab, info: *mut ffi::sqlite3_index_info) -> c_int {
    // SAFETY: SQLite passes the structure that it wants to be filled.
    unsafe { ((*info).estimatedCost, (*info).estimatedRows) = (1.0, 1) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn open(_: *mut ffi::sqlite3_vtab, cursor: *mut *mut ffi::sqlite3_vtab_cursor) -> c_int {
    let opened = Box::new(Cursor {
        base: ffi::sqlite3_vtab_cursor {
            pVtab: ptr::null_mut(),
        },
        show: 0,
        row: 0,
        rows: 0,
    });
    // SAFETY: the out pointer is valid; SQLite fills the base, which comes first.
    unsafe { *cursor = Box::into_raw(opened).cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: `open` made the cursor, and SQLite closes it once.
    unsafe { drop(Box::from_raw(cursor.cast::<Cursor>())) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn start(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    _: c_int,
    _: *const c_char,
    _: c_int,
    _: *mut *mut ffi::sqlite3_value,
) -> c_int {
    // SAFETY: SQLite passes a cursor of ours.
    unsafe {
        let (cursor, table) = parts(cursor);
        if cursor.show == 0 && table.is_gone() {
            // Makes SQLite prepare the statement again.
            return ffi::SQLITE_SCHEMA;
        }
        let Some(show) = table.now() else {
            return fail(cursor, &format!("no rows of {} are given", table.name()));
        };
        match table.read(show, |rows| Ok(rows.len())) {
            Ok(rows) => (cursor.show, cursor.row, cursor.rows) = (show, 0, rows),
            Err(message) => return fail(cursor, &message),
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn next(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: SQLite passes a cursor of ours.
    unsafe {
        let (cursor, table) = parts(cursor);
        cursor.row += 1;
        match table.read(cursor.show, |_| Ok(())) {
            Ok(()) => ffi::SQLITE_OK,
            Err(message) => fail(cursor, &message),
        }
    }
}

unsafe extern "C" fn is_over(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: SQLite passes a cursor of ours.
    let (cursor, _) = unsafe { parts(cursor) };
    c_int::from(cursor.row >= cursor.rows)
}

unsafe extern "C" fn column(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    context: *mut ffi::sqlite3_context,
    column: c_int,
) -> c_int {
    // SAFETY: SQLite passes a cursor of ours, and a context for the result.
    unsafe {
        let (cursor, table) = parts(cursor);
        let read = table.read(cursor.show, |rows| {
            let value = rows.value(cursor.row, column as usize).ok_or_else(|| {
                let (row, name) = (cursor.row, table.name());
                format!("the value of column {column} of row {row} of {name} is not known")
            })?;
            value::set_result(context, value);
            Ok(())
        });
        match read {
            Ok(()) => ffi::SQLITE_OK,
            Err(message) => fail(cursor, &message),
        }
    }
}

unsafe extern "C" fn rowid(cursor: *mut ffi::sqlite3_vtab_cursor, rowid: *mut ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes a cursor of ours, and a valid out pointer.
    unsafe {
        let (cursor, table) = parts(cursor);
        let read = table.read(cursor.show, |rows| {
            let (row, name) = (cursor.row, table.name());
            rows.rowid(row)
                .ok_or_else(|| format!("the rowid of row {row} of {name} is not known"))
        });
        match read {
            Ok(value) => *rowid = value,
            Err(message) => return fail(cursor, &message),
        }
    }
    ffi::SQLITE_OK
}

/// # Safety
/// `cursor` was opened by [`open`], and nothing else refers to it.
unsafe fn parts<'a>(cursor: *mut ffi::sqlite3_vtab_cursor) -> (&'a mut Cursor, &'a Table) {
    // SAFETY: promised by the caller; SQLite ends a table after its cursors.
    unsafe {
        let cursor = &mut *cursor.cast::<Cursor>();
        let table = &*cursor.base.pVtab.cast::<VirtualTable>();
        (cursor, &table.table)
    }
}

/// Ends the statement with an error.
///
/// # Safety
/// SQLite has opened the cursor.
unsafe fn fail(cursor: &Cursor, message: &str) -> c_int {
    let length = c_int::try_from(message.len()).unwrap_or(c_int::MAX);
    // SAFETY: promised by the caller. The message has `length` bytes; a message that SQLite has not read yet is freed.
    unsafe {
        let table = cursor.base.pVtab;
        ffi::sqlite3_free((*table).zErrMsg.cast());
        let start = message.as_ptr();
        (*table).zErrMsg = ffi::sqlite3_mprintf(c"%.*s".as_ptr(), length, start);
    }
    ffi::SQLITE_ERROR
}
