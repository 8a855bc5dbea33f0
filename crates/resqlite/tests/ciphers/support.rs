//! Databases with keys, in temporary folders.

pub use pollster::block_on;
use resqlite::{Database, Error, Key, Options, Result, Value};
use tempfile::TempDir;

/// An encrypted database in a folder of its own.
pub struct Fixture {
    pub db: Database,
    pub folder: TempDir,
}

impl Fixture {
    pub fn new(key: &Key) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = open(&path_in(&folder, "test.db"), Some(key)).unwrap();
        let schema = "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t(b) VALUES ('something secret')";
        block_on(db.exec(schema)).unwrap();
        Self { db, folder }
    }

    pub fn path(&self) -> String {
        self.file("test.db")
    }

    pub fn file(&self, name: &str) -> String {
        path_in(&self.folder, name)
    }
}

pub fn path_in(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// A raw key that differs from others by its byte.
pub fn raw(byte: u8) -> Key {
    Key::raw(&[byte; Key::RAW_BYTES]).unwrap()
}

pub fn with_key(key: Option<&Key>) -> Options {
    Options {
        key: key.cloned(),
        ..Options::default()
    }
}

pub fn open(path: &str, key: Option<&Key>) -> Result<Database> {
    block_on(Database::open(path, with_key(key)))
}

/// How many rows `t` has.
pub fn rows(db: &Database) -> Result<i64> {
    let rows = block_on(db.select("SELECT count(*) FROM t", ()))?;
    match rows.first().unwrap().values()[0] {
        Value::Integer(count) => Ok(count),
        ref other => panic!("{other:?} is no count"),
    }
}

/// The database is not readable for this reason, which the error names by a code of its own.
pub fn refused(opened: Result<Database>, reason: &str) -> Error {
    let error = opened.err().expect("the key does not fit");
    assert_eq!(error.code(), "RESQLITE_ENCRYPTION_KEY", "{error}");
    assert!(error.to_string().contains(reason), "{error}");
    error
}
