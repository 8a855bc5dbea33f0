//! The table of functions that makes a virtual table, and what its planning exchanges with SQLite.

use std::ffi::{c_char, c_double, c_int, c_uchar, c_void};

use crate::types::{
    sqlite3, sqlite3_context, sqlite3_function, sqlite3_int64, sqlite3_uint64, sqlite3_value,
};

type Connect = unsafe extern "C" fn(
    *mut sqlite3,
    *mut c_void,
    c_int,
    *const *const c_char,
    *mut *mut sqlite3_vtab,
    *mut *mut c_char,
) -> c_int;
type OfTable = unsafe extern "C" fn(*mut sqlite3_vtab) -> c_int;
type OfCursor = unsafe extern "C" fn(*mut sqlite3_vtab_cursor) -> c_int;
type OfSavepoint = unsafe extern "C" fn(*mut sqlite3_vtab, c_int) -> c_int;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct sqlite3_module {
    pub iVersion: c_int,
    pub xCreate: Option<Connect>,
    pub xConnect: Option<Connect>,
    pub xBestIndex: Option<unsafe extern "C" fn(*mut sqlite3_vtab, *mut sqlite3_index_info) -> c_int>,
    pub xDisconnect: Option<OfTable>,
    pub xDestroy: Option<OfTable>,
    pub xOpen: Option<unsafe extern "C" fn(*mut sqlite3_vtab, *mut *mut sqlite3_vtab_cursor) -> c_int>,
    pub xClose: Option<OfCursor>,
    pub xFilter: Option<
        unsafe extern "C" fn(
            *mut sqlite3_vtab_cursor,
            c_int,
            *const c_char,
            c_int,
            *mut *mut sqlite3_value,
        ) -> c_int,
    >,
    pub xNext: Option<OfCursor>,
    pub xEof: Option<OfCursor>,
    pub xColumn: Option<unsafe extern "C" fn(*mut sqlite3_vtab_cursor, *mut sqlite3_context, c_int) -> c_int>,
    pub xRowid: Option<unsafe extern "C" fn(*mut sqlite3_vtab_cursor, *mut sqlite3_int64) -> c_int>,
    pub xUpdate: Option<
        unsafe extern "C" fn(*mut sqlite3_vtab, c_int, *mut *mut sqlite3_value, *mut sqlite3_int64) -> c_int,
    >,
    pub xBegin: Option<OfTable>,
    pub xSync: Option<OfTable>,
    pub xCommit: Option<OfTable>,
    pub xRollback: Option<OfTable>,
    pub xFindFunction: Option<
        unsafe extern "C" fn(
            *mut sqlite3_vtab,
            c_int,
            *const c_char,
            *mut Option<sqlite3_function>,
            *mut *mut c_void,
        ) -> c_int,
    >,
    pub xRename: Option<unsafe extern "C" fn(*mut sqlite3_vtab, *const c_char) -> c_int>,
    pub xSavepoint: Option<OfSavepoint>,
    pub xRelease: Option<OfSavepoint>,
    pub xRollbackTo: Option<OfSavepoint>,
    pub xShadowName: Option<unsafe extern "C" fn(*const c_char) -> c_int>,
    pub xIntegrity: Option<
        unsafe extern "C" fn(
            *mut sqlite3_vtab,
            *const c_char,
            *const c_char,
            c_int,
            *mut *mut c_char,
        ) -> c_int,
    >,
}

impl sqlite3_module {
    /// A module without any functions.
    pub const EMPTY: Self = Self {
        iVersion: 0,
        xCreate: None,
        xConnect: None,
        xBestIndex: None,
        xDisconnect: None,
        xDestroy: None,
        xOpen: None,
        xClose: None,
        xFilter: None,
        xNext: None,
        xEof: None,
        xColumn: None,
        xRowid: None,
        xUpdate: None,
        xBegin: None,
        xSync: None,
        xCommit: None,
        xRollback: None,
        xFindFunction: None,
        xRename: None,
        xSavepoint: None,
        xRelease: None,
        xRollbackTo: None,
        xShadowName: None,
        xIntegrity: None,
    };
}

#[repr(C)]
#[derive(Debug)]
pub struct sqlite3_vtab {
    pub pModule: *const sqlite3_module,
    pub nRef: c_int,
    pub zErrMsg: *mut c_char,
}

#[repr(C)]
#[derive(Debug)]
pub struct sqlite3_vtab_cursor {
    pub pVtab: *mut sqlite3_vtab,
}

#[repr(C)]
#[derive(Debug)]
pub struct sqlite3_index_info {
    pub nConstraint: c_int,
    pub aConstraint: *mut sqlite3_index_constraint,
    pub nOrderBy: c_int,
    pub aOrderBy: *mut sqlite3_index_orderby,
    pub aConstraintUsage: *mut sqlite3_index_constraint_usage,
    pub idxNum: c_int,
    pub idxStr: *mut c_char,
    pub needToFreeIdxStr: c_int,
    pub orderByConsumed: c_int,
    pub estimatedCost: c_double,
    pub estimatedRows: sqlite3_int64,
    pub idxFlags: c_int,
    pub colUsed: sqlite3_uint64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct sqlite3_index_constraint {
    pub iColumn: c_int,
    pub op: c_uchar,
    pub usable: c_uchar,
    pub iTermOffset: c_int,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct sqlite3_index_orderby {
    pub iColumn: c_int,
    pub desc: c_uchar,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct sqlite3_index_constraint_usage {
    pub argvIndex: c_int,
    pub omit: c_uchar,
}
