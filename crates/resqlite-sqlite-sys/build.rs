//! Compiles SQLite. All its options are here.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The options of SQLite, besides those that depend on the platform.
const OPTIONS: [(&str, Option<&str>); 33] = [
    // It is part of a program, not an extension of one.
    ("SQLITE_CORE", None),
    // Each connection belongs to one thread, and is opened without a mutex; what connections share needs mutexes.
    ("SQLITE_THREADSAFE", Some("1")),
    // Calls with bad arguments return SQLITE_MISUSE.
    ("SQLITE_ENABLE_API_ARMOR", None),
    // Counting allocations takes a lock for each. Memory is counted per connection.
    ("SQLITE_DEFAULT_MEMSTATUS", Some("0")),
    // A connection takes memory for pages when it reads them, not for 20 of them beforehand, and half of SQLite's own share for small
    // objects. Thousands of small files may be open.
    ("SQLITE_DEFAULT_PCACHE_INITSZ", Some("0")),
    ("SQLITE_DEFAULT_LOOKASIDE", Some("1200,20")),
    // Foreign keys hold wherever nothing else is said.
    ("SQLITE_DEFAULT_FOREIGN_KEYS", Some("1")),
    // "word" in double quotes is a name, never text: a misspelt name is an error.
    ("SQLITE_DQS", Some("0")),
    // The commit log is made of what this hook reports.
    ("SQLITE_ENABLE_PREUPDATE_HOOK", None),
    // Declared types, and from which table and column a column of a result comes.
    ("SQLITE_ENABLE_COLUMN_METADATA", None),
    // A snapshot tells which commit a read transaction shows.
    ("SQLITE_ENABLE_SNAPSHOT", None),
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
    // Every C library of today has the functions, types and header below. Without HAVE_USLEEP SQLite waits in whole seconds.
    ("HAVE_USLEEP", Some("1")),
    ("HAVE_ISNAN", None),
    ("HAVE_INT8_T", None),
    ("HAVE_INT16_T", None),
    ("HAVE_INT32_T", None),
    ("HAVE_STDINT_H", None),
    // MinGW declares localtime_r only with it.
    ("_POSIX_THREAD_SAFE_FUNCTIONS", None),
];

/// The further options of SQLite3 Multiple Ciphers.
const CIPHER_OPTIONS: [(&str, Option<&str>); 7] = [
    // It encrypts databases and their journals, but no temporary files: there are none.
    ("SQLITE_TEMP_STORE", Some("3")),
    // ChaCha20-Poly1305 is the default, and nobody can choose another.
    ("HAVE_CIPHER_AES_128_CBC", Some("0")),
    ("HAVE_CIPHER_AES_256_CBC", Some("0")),
    ("HAVE_CIPHER_RC4", Some("0")),
    ("HAVE_CIPHER_ASCON128", Some("0")),
    ("HAVE_CIPHER_AEGIS", Some("0")),
    ("HAVE_CIPHER_SQLCIPHER", Some("0")),
];

/// Where the sources of SQLite3 Multiple Ciphers are; `scripts/ciphers.mjs` fetches them.
const CIPHERS_SOURCE: &str = "RESQLITE_CIPHERS_SOURCE";

/// The functions of `sqlite3/depth.h`, which bound what SQLite puts together.
const DEPTH: &str = "sqlite3/depth.h";

/// Lines of SQLite's source, and what stands there instead: most of them for [`DEPTH`].
const CHANGES: [(&str, &str); 10] = [
    (
        "  int nNestSel; ",
        "  int nResqliteCopied, nResqliteCompiled, nResqliteDepth;\n  int nNestSel; ",
    ),
    (
        "/* The following three functions, heightOfExpr(), heightOfExprList()",
        "#include \"depth.h\"\n\n/* The following three functions, heightOfExpr(), heightOfExprList()",
    ),
    (
        "        pNew = sqlite3ExprDup(db, pCopy, 0);",
        "        if( resqliteMayNotCopy(pSubst->pParse, pCopy, 0) ) return pExpr;\n        pNew = sqlite3ExprDup(db, pCopy, 0);",
    ),
    (
        "    pNew = sqlite3SelectDup(db, p, 0);",
        "    pNew = resqliteMayNotCopy(pParse, 0, p) ? 0 : sqlite3SelectDup(db, p, 0);",
    ),
    (
        "      substSelect(&x, pParent, 0);",
        "      substSelect(&x, pParent, 0);\n      resqliteCheckTerm(pParse, pParent);",
    ),
    (
        "      pNew = substExpr(&x, pNew);",
        "      pNew = substExpr(&x, pNew);\n      resqliteCheckExpr(pParse, pNew);",
    ),
    (
        "  sqlite3DbFree(db, aCsrMap);\n  if( db->mallocFailed ){",
        "  sqlite3DbFree(db, aCsrMap);\n  resqliteCheckCompound(pParse, p);\n  if( db->mallocFailed ){",
    ),
    (
        "          sqlite3SrcItemAttachSubquery(pParse, pFrom, pTab->u.view.pSelect, 1);",
        "          if( resqliteMayNotExpand(pParse) ) return WRC_Abort;\n          sqlite3SrcItemAttachSubquery(pParse, pFrom, pTab->u.view.pSelect, 1);",
    ),
    (
        "  sqlite3ExprCodeCopy(pParse, sqlite3ColumnExpr(pTab,pCol), regOut);",
        "  resqliteCodeGenerated(pParse, sqlite3ColumnExpr(pTab,pCol), regOut);",
    ),
    // Each read takes this lock of the process, beside a barrier that suffices. Others hold it while they open and close files.
    (
        "  unixEnterMutex();               /* Also mutex, for redundancy */\n  unixLeaveMutex();\n",
        "",
    ),
];

fn main() {
    let target = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let mut build = cc::Build::new();
    for (name, value) in OPTIONS {
        build.define(name, value);
    }
    let source = if env::var_os("CARGO_FEATURE_CIPHERS").is_some() {
        for (name, value) in CIPHER_OPTIONS {
            build.define(name, value);
        }
        ciphers()
    } else {
        PathBuf::from("sqlite3")
    };
    // The files that the source includes lie beside it.
    build.file(changed(&source.join("sqlite3.c"))).include(&source);
    build.include("sqlite3").warnings(false);
    if target == "windows" {
        // SQLite's own choice for MSVC stops the compiler from reordering, and not the processor: ARM64 needs both.
        build.define("SQLITE_MEMORY_BARRIER", "MemoryBarrier()");
    } else {
        build.define("HAVE_LOCALTIME_R", None);
    }
    if env::var("CARGO_CFG_TARGET_VENDOR").as_deref() == Ok("apple") {
        // An fsync leaves data in the drive's cache there, so a checkpoint could reach the drive before its log does.
        build.define("SQLITE_DEFAULT_CKPTFULLFSYNC", "1");
    }
    if target == "android" {
        // SQLite finds no folder for temporary files there.
        build.define("SQLITE_TEMP_STORE", "3");
    }
    build.compile("sqlite3");
    println!("cargo:rerun-if-changed={}", source.display());
    println!("cargo:rerun-if-changed={DEPTH}");
    println!("cargo:rerun-if-changed=build.rs");
}

/// A copy of SQLite's source with the changes of [`CHANGES`].
fn changed(source: &Path) -> PathBuf {
    let mut text = fs::read_to_string(source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    for (lines, instead) in CHANGES {
        let count = text.matches(lines).count();
        assert!(
            count == 1,
            "{} has this {count} times and not once, so it cannot be changed. Look for what has become of it:\n{lines}",
            source.display()
        );
        text = text.replacen(lines, instead, 1);
    }
    let copy = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("sqlite3.c");
    fs::write(&copy, text).unwrap_or_else(|error| panic!("{}: {error}", copy.display()));
    copy
}

/// The folder with SQLite as SQLite3 Multiple Ciphers has changed it.
fn ciphers() -> PathBuf {
    println!("cargo:rerun-if-env-changed={CIPHERS_SOURCE}");
    let source = env::var_os(CIPHERS_SOURCE).unwrap_or_else(|| {
        panic!("the feature `ciphers` takes sources that are not in this repository: `node scripts/ciphers.mjs source` fetches them and prints a path for the variable {CIPHERS_SOURCE}")
    });
    source.into()
}
