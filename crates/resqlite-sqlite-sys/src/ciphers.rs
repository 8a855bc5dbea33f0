//! Functions that SQLite3 Multiple Ciphers adds to SQLite.

use std::ffi::{c_char, c_int, c_void};

use crate::types::sqlite3;

unsafe extern "C" {
    pub fn sqlite3_key_v2(db: *mut sqlite3, schema: *const c_char, key: *const c_void, bytes: c_int)
    -> c_int;
    pub fn sqlite3_rekey_v2(
        db: *mut sqlite3,
        schema: *const c_char,
        key: *const c_void,
        bytes: c_int,
    ) -> c_int;
    pub fn sqlite3mc_vfs_create(of_vfs: *const c_char, make_default: c_int) -> c_int;
}
