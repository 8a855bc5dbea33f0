//! The functions, by what they concern.

use std::ffi::{c_char, c_double, c_int, c_uchar, c_uint, c_void};

use crate::{
    types::{
        sqlite3, sqlite3_backup, sqlite3_context, sqlite3_destructor_type, sqlite3_final, sqlite3_function,
        sqlite3_int64, sqlite3_snapshot, sqlite3_stmt, sqlite3_uint64, sqlite3_value, sqlite3_vfs,
    },
    virtual_tables::sqlite3_module,
};

// The library.
unsafe extern "C" {
    pub fn sqlite3_free(memory: *mut c_void);
    pub fn sqlite3_libversion() -> *const c_char;
    pub fn sqlite3_mprintf(format: *const c_char, ...) -> *mut c_char;
    pub fn sqlite3_randomness(bytes: c_int, out: *mut c_void);
    pub fn sqlite3_vfs_find(name: *const c_char) -> *mut sqlite3_vfs;
    pub fn sqlite3_vfs_register(vfs: *mut sqlite3_vfs, make_default: c_int) -> c_int;
}

// Connections.
unsafe extern "C" {
    pub fn sqlite3_busy_timeout(db: *mut sqlite3, milliseconds: c_int) -> c_int;
    pub fn sqlite3_changes64(db: *mut sqlite3) -> sqlite3_int64;
    pub fn sqlite3_close(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_db_config(db: *mut sqlite3, option: c_int, ...) -> c_int;
    pub fn sqlite3_db_status(
        db: *mut sqlite3,
        what: c_int,
        current: *mut c_int,
        highest: *mut c_int,
        reset: c_int,
    ) -> c_int;
    pub fn sqlite3_errmsg(db: *mut sqlite3) -> *const c_char;
    pub fn sqlite3_error_offset(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_errstr(code: c_int) -> *const c_char;
    pub fn sqlite3_exec(
        db: *mut sqlite3,
        sql: *const c_char,
        row: Option<unsafe extern "C" fn(*mut c_void, c_int, *mut *mut c_char, *mut *mut c_char) -> c_int>,
        context: *mut c_void,
        message: *mut *mut c_char,
    ) -> c_int;
    pub fn sqlite3_extended_errcode(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_file_control(
        db: *mut sqlite3,
        schema: *const c_char,
        operation: c_int,
        argument: *mut c_void,
    ) -> c_int;
    pub fn sqlite3_get_autocommit(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_last_insert_rowid(db: *mut sqlite3) -> sqlite3_int64;
    pub fn sqlite3_limit(db: *mut sqlite3, limit: c_int, value: c_int) -> c_int;
    pub fn sqlite3_load_extension(
        db: *mut sqlite3,
        file: *const c_char,
        entry_point: *const c_char,
        message: *mut *mut c_char,
    ) -> c_int;
    pub fn sqlite3_open_v2(
        path: *const c_char,
        db: *mut *mut sqlite3,
        flags: c_int,
        vfs: *const c_char,
    ) -> c_int;
    pub fn sqlite3_set_last_insert_rowid(db: *mut sqlite3, rowid: sqlite3_int64);
    pub fn sqlite3_snapshot_free(snapshot: *mut sqlite3_snapshot);
    pub fn sqlite3_snapshot_get(
        db: *mut sqlite3,
        schema: *const c_char,
        snapshot: *mut *mut sqlite3_snapshot,
    ) -> c_int;
    pub fn sqlite3_system_errno(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_total_changes64(db: *mut sqlite3) -> sqlite3_int64;
    pub fn sqlite3_txn_state(db: *mut sqlite3, schema: *const c_char) -> c_int;
    pub fn sqlite3_table_column_metadata(
        db: *mut sqlite3,
        schema: *const c_char,
        table: *const c_char,
        column: *const c_char,
        declared_type: *mut *const c_char,
        collation: *mut *const c_char,
        not_null: *mut c_int,
        primary_key: *mut c_int,
        autoincrement: *mut c_int,
    ) -> c_int;
    pub fn sqlite3_wal_checkpoint_v2(
        db: *mut sqlite3,
        schema: *const c_char,
        mode: c_int,
        log: *mut c_int,
        copied: *mut c_int,
    ) -> c_int;
}

// Copies of databases.
unsafe extern "C" {
    pub fn sqlite3_backup_init(
        target: *mut sqlite3,
        target_schema: *const c_char,
        source: *mut sqlite3,
        source_schema: *const c_char,
    ) -> *mut sqlite3_backup;
    pub fn sqlite3_backup_step(backup: *mut sqlite3_backup, pages: c_int) -> c_int;
    pub fn sqlite3_backup_finish(backup: *mut sqlite3_backup) -> c_int;
    pub fn sqlite3_backup_remaining(backup: *mut sqlite3_backup) -> c_int;
    pub fn sqlite3_backup_pagecount(backup: *mut sqlite3_backup) -> c_int;
}

// Callbacks of a connection.
unsafe extern "C" {
    pub fn sqlite3_busy_handler(
        db: *mut sqlite3,
        callback: Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>,
        context: *mut c_void,
    ) -> c_int;
    pub fn sqlite3_commit_hook(
        db: *mut sqlite3,
        callback: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
        context: *mut c_void,
    ) -> *mut c_void;
    pub fn sqlite3_preupdate_blobwrite(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_preupdate_count(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_preupdate_depth(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_preupdate_hook(
        db: *mut sqlite3,
        callback: Option<
            unsafe extern "C" fn(
                *mut c_void,
                *mut sqlite3,
                c_int,
                *const c_char,
                *const c_char,
                sqlite3_int64,
                sqlite3_int64,
            ),
        >,
        context: *mut c_void,
    ) -> *mut c_void;
    pub fn sqlite3_preupdate_new(db: *mut sqlite3, column: c_int, value: *mut *mut sqlite3_value) -> c_int;
    pub fn sqlite3_preupdate_old(db: *mut sqlite3, column: c_int, value: *mut *mut sqlite3_value) -> c_int;
    pub fn sqlite3_progress_handler(
        db: *mut sqlite3,
        operations: c_int,
        callback: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
        context: *mut c_void,
    );
    pub fn sqlite3_set_authorizer(
        db: *mut sqlite3,
        callback: Option<
            unsafe extern "C" fn(
                *mut c_void,
                c_int,
                *const c_char,
                *const c_char,
                *const c_char,
                *const c_char,
            ) -> c_int,
        >,
        context: *mut c_void,
    ) -> c_int;
    pub fn sqlite3_wal_hook(
        db: *mut sqlite3,
        callback: Option<unsafe extern "C" fn(*mut c_void, *mut sqlite3, *const c_char, c_int) -> c_int>,
        context: *mut c_void,
    ) -> *mut c_void;
}

// Statements.
unsafe extern "C" {
    pub fn sqlite3_bind_blob64(
        statement: *mut sqlite3_stmt,
        index: c_int,
        start: *const c_void,
        length: sqlite3_uint64,
        destructor: sqlite3_destructor_type,
    ) -> c_int;
    pub fn sqlite3_bind_double(statement: *mut sqlite3_stmt, index: c_int, value: c_double) -> c_int;
    pub fn sqlite3_bind_int64(statement: *mut sqlite3_stmt, index: c_int, value: sqlite3_int64) -> c_int;
    pub fn sqlite3_bind_null(statement: *mut sqlite3_stmt, index: c_int) -> c_int;
    pub fn sqlite3_bind_parameter_count(statement: *mut sqlite3_stmt) -> c_int;
    pub fn sqlite3_bind_parameter_index(statement: *mut sqlite3_stmt, name: *const c_char) -> c_int;
    pub fn sqlite3_bind_parameter_name(statement: *mut sqlite3_stmt, index: c_int) -> *const c_char;
    pub fn sqlite3_bind_text64(
        statement: *mut sqlite3_stmt,
        index: c_int,
        start: *const c_char,
        length: sqlite3_uint64,
        destructor: sqlite3_destructor_type,
        encoding: c_uchar,
    ) -> c_int;
    pub fn sqlite3_bind_zeroblob(statement: *mut sqlite3_stmt, index: c_int, length: c_int) -> c_int;
    pub fn sqlite3_clear_bindings(statement: *mut sqlite3_stmt) -> c_int;
    pub fn sqlite3_column_blob(statement: *mut sqlite3_stmt, column: c_int) -> *const c_void;
    pub fn sqlite3_column_bytes(statement: *mut sqlite3_stmt, column: c_int) -> c_int;
    pub fn sqlite3_column_count(statement: *mut sqlite3_stmt) -> c_int;
    pub fn sqlite3_column_database_name(statement: *mut sqlite3_stmt, column: c_int) -> *const c_char;
    pub fn sqlite3_column_decltype(statement: *mut sqlite3_stmt, column: c_int) -> *const c_char;
    pub fn sqlite3_column_name(statement: *mut sqlite3_stmt, column: c_int) -> *const c_char;
    pub fn sqlite3_column_origin_name(statement: *mut sqlite3_stmt, column: c_int) -> *const c_char;
    pub fn sqlite3_column_table_name(statement: *mut sqlite3_stmt, column: c_int) -> *const c_char;
    pub fn sqlite3_column_value(statement: *mut sqlite3_stmt, column: c_int) -> *mut sqlite3_value;
    pub fn sqlite3_finalize(statement: *mut sqlite3_stmt) -> c_int;
    pub fn sqlite3_prepare_v2(
        db: *mut sqlite3,
        sql: *const c_char,
        length: c_int,
        statement: *mut *mut sqlite3_stmt,
        tail: *mut *const c_char,
    ) -> c_int;
    pub fn sqlite3_prepare_v3(
        db: *mut sqlite3,
        sql: *const c_char,
        length: c_int,
        flags: c_uint,
        statement: *mut *mut sqlite3_stmt,
        tail: *mut *const c_char,
    ) -> c_int;
    pub fn sqlite3_reset(statement: *mut sqlite3_stmt) -> c_int;
    pub fn sqlite3_step(statement: *mut sqlite3_stmt) -> c_int;
    pub fn sqlite3_stmt_isexplain(statement: *mut sqlite3_stmt) -> c_int;
    pub fn sqlite3_stmt_readonly(statement: *mut sqlite3_stmt) -> c_int;
    pub fn sqlite3_stmt_status(statement: *mut sqlite3_stmt, counter: c_int, reset: c_int) -> c_int;
}

// Values.
unsafe extern "C" {
    pub fn sqlite3_value_blob(value: *mut sqlite3_value) -> *const c_void;
    pub fn sqlite3_value_bytes(value: *mut sqlite3_value) -> c_int;
    pub fn sqlite3_value_double(value: *mut sqlite3_value) -> c_double;
    pub fn sqlite3_value_int64(value: *mut sqlite3_value) -> sqlite3_int64;
    pub fn sqlite3_value_text(value: *mut sqlite3_value) -> *const c_uchar;
    pub fn sqlite3_value_type(value: *mut sqlite3_value) -> c_int;
}

// Functions and virtual tables of SQL.
unsafe extern "C" {
    pub fn sqlite3_aggregate_context(context: *mut sqlite3_context, bytes: c_int) -> *mut c_void;
    pub fn sqlite3_create_function_v2(
        db: *mut sqlite3,
        name: *const c_char,
        arguments: c_int,
        flags: c_int,
        data: *mut c_void,
        function: Option<sqlite3_function>,
        step: Option<sqlite3_function>,
        last: Option<sqlite3_final>,
        destructor: sqlite3_destructor_type,
    ) -> c_int;
    pub fn sqlite3_create_module_v2(
        db: *mut sqlite3,
        name: *const c_char,
        module: *const sqlite3_module,
        data: *mut c_void,
        destructor: sqlite3_destructor_type,
    ) -> c_int;
    pub fn sqlite3_declare_vtab(db: *mut sqlite3, sql: *const c_char) -> c_int;
    pub fn sqlite3_result_blob64(
        context: *mut sqlite3_context,
        start: *const c_void,
        length: sqlite3_uint64,
        destructor: sqlite3_destructor_type,
    );
    pub fn sqlite3_result_double(context: *mut sqlite3_context, value: c_double);
    pub fn sqlite3_result_error(context: *mut sqlite3_context, message: *const c_char, length: c_int);
    pub fn sqlite3_result_int64(context: *mut sqlite3_context, value: sqlite3_int64);
    pub fn sqlite3_result_null(context: *mut sqlite3_context);
    pub fn sqlite3_result_text64(
        context: *mut sqlite3_context,
        start: *const c_char,
        length: sqlite3_uint64,
        destructor: sqlite3_destructor_type,
        encoding: c_uchar,
    );
    pub fn sqlite3_user_data(context: *mut sqlite3_context) -> *mut c_void;
    pub fn sqlite3_vtab_config(db: *mut sqlite3, option: c_int, ...) -> c_int;
}
