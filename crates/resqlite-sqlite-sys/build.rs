//! Compiles SQLite. All its options are here.

use std::env;

/// What SQLite is told, besides what depends on the platform.
const OPTIONS: [(&str, Option<&str>); 30] = [
    // It is part of a program, not an extension of one.
    ("SQLITE_CORE", None),
    // Each connection belongs to one thread, and is opened without a mutex; what connections share needs mutexes.
    ("SQLITE_THREADSAFE", Some("1")),
    // Calls with bad arguments return SQLITE_MISUSE.
    ("SQLITE_ENABLE_API_ARMOR", None),
    // Counting allocations takes a lock for each. Memory is counted per connection.
    ("SQLITE_DEFAULT_MEMSTATUS", Some("0")),
    // Foreign keys hold wherever nothing else is said.
    ("SQLITE_DEFAULT_FOREIGN_KEYS", Some("1")),
    // "word" in double quotes is a name, never text: a misspelt name is an error.
    ("SQLITE_DQS", Some("0")),
    // The commit log is made of what this hook reports.
    ("SQLITE_ENABLE_PREUPDATE_HOOK", None),
    // Declared types, and from which table and column a column of a result comes.
    ("SQLITE_ENABLE_COLUMN_METADATA", None),
    // For the option `extensions`. SQL cannot load any.
    ("SQLITE_ENABLE_LOAD_EXTENSION", Some("1")),
    // Paths like file:app.db?mode=ro in ATTACH.
    ("SQLITE_USE_URI", None),
    // ANALYZE samples the values of indexes, so that plans fit skewed data.
    ("SQLITE_ENABLE_STAT4", None),
    // UPDATE and DELETE with ORDER BY and LIMIT. The parser in sqlite3.c was made for it.
    ("SQLITE_ENABLE_UPDATE_DELETE_LIMIT", None),
    // Functions.
    ("SQLITE_ENABLE_MATH_FUNCTIONS", None),
    ("SQLITE_ENABLE_PERCENTILE", None),
    ("SQLITE_SOUNDEX", None),
    ("SQLITE_ENABLE_JSON1", None),
    // Full-text search.
    ("SQLITE_ENABLE_FTS3", None),
    ("SQLITE_ENABLE_FTS3_PARENTHESIS", None),
    ("SQLITE_ENABLE_FTS5", None),
    // Boxes and polygons.
    ("SQLITE_ENABLE_RTREE", None),
    ("SQLITE_ENABLE_GEOPOLY", None),
    // Tables about the file (dbstat) and about the statements of the connection (sqlite_stmt).
    ("SQLITE_ENABLE_DBSTAT_VTAB", None),
    ("SQLITE_ENABLE_STMTVTAB", None),
    // What every C library of today has. Without HAVE_USLEEP SQLite waits in whole seconds.
    ("HAVE_USLEEP", Some("1")),
    ("HAVE_ISNAN", None),
    ("HAVE_INT8_T", None),
    ("HAVE_INT16_T", None),
    ("HAVE_INT32_T", None),
    ("HAVE_STDINT_H", None),
    // MinGW declares localtime_r only with it.
    ("_POSIX_THREAD_SAFE_FUNCTIONS", None),
];

fn main() {
    let target = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let mut build = cc::Build::new();
    build.file("sqlite3/sqlite3.c").warnings(false);
    for (name, value) in OPTIONS {
        build.define(name, value);
    }
    if target != "windows" {
        build.define("HAVE_LOCALTIME_R", None);
    }
    if target == "android" {
        // SQLite finds no folder for temporary files there.
        build.define("SQLITE_TEMP_STORE", "3");
    }
    build.compile("sqlite3");
    println!("cargo:rerun-if-changed=sqlite3");
    println!("cargo:rerun-if-changed=build.rs");
}
