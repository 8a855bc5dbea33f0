//! What the tests have in common: databases in temporary folders, requests that are under way, the commit log.

#[path = "../../support/age.rs"]
mod age;
mod asking;
#[cfg(feature = "log")]
mod feed;
#[path = "../../support/key.rs"]
mod key;
mod log;

use std::path::PathBuf;

use resqlite::{Database, Error, LiveQuery, Options, Result, Rows, Value};
use resqlite_sqlite::Connection;
use tempfile::TempDir;

pub use age::age;
pub use asking::{Asked, Told, ask, hold_reader, hold_reader_with, query, tell, write};
#[cfg(feature = "log")]
pub use feed::{Feed, Held, told};
pub use key::{connect, keyed};
pub use log::{Recorded, columns, images, later, only, record, summary_of, table};
pub use pollster::block_on;

/// A database file in a folder of its own.
pub struct Fixture {
    pub db: Database,
    pub folder: TempDir,
}

impl Fixture {
    pub fn new(schema: &str) -> Self {
        Self::with(schema, Options::default())
    }

    pub fn with(schema: &str, options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let db = open_with(path.to_str().unwrap(), options).unwrap();
        block_on(db.exec(schema)).unwrap();
        Self { db, folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("test.db")
    }

    pub fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// A second connection to the file, as another process would have one.
    pub fn stranger(&self) -> Connection {
        connect(self.path().to_str().unwrap()).unwrap()
    }

    pub fn run(&self, sql: &str) -> resqlite::WriteResult {
        block_on(self.db.execute(sql, ())).unwrap()
    }

    pub fn exec(&self, script: &str) {
        block_on(self.db.exec(script)).unwrap();
    }

    pub fn fails(&self, sql: &str) -> Error {
        block_on(self.db.execute(sql, ())).unwrap_err()
    }

    /// The integers of the first column.
    pub fn integers(&self, sql: &str) -> Vec<i64> {
        integers(&self.select(sql))
    }

    pub fn select(&self, sql: &str) -> Rows {
        block_on(self.db.select(sql, ())).unwrap()
    }
}

pub fn open(path: &str) -> Result<Database> {
    open_with(path, Options::default())
}

pub fn open_with(path: &str, options: Options) -> Result<Database> {
    block_on(Database::open(path, keyed(options)))
}

/// The integers of the first column of the next result of a live query.
pub fn next_integers(live: &mut LiveQuery) -> Vec<i64> {
    let emitted = block_on(live.next()).unwrap().unwrap();
    let first = emitted.rows().iter().map(|row| row.values()[0].clone());
    first.map(integer).collect()
}

/// The integers of the first column.
pub fn integers(rows: &Rows) -> Vec<i64> {
    let first = rows.iter().map(|row| row.values()[0].clone());
    first.map(integer).collect()
}

fn integer(value: Value) -> i64 {
    match value {
        Value::Integer(value) => value,
        other => panic!("{other:?} is no integer"),
    }
}

/// The only value of the only row.
pub fn single(rows: &Rows) -> Value {
    assert_eq!((rows.len(), rows.columns().len()), (1, 1), "{rows:?}");
    rows.first().unwrap().values()[0].clone()
}

/// Options with so many readers.
pub fn readers(count: usize) -> Options {
    Options {
        readers: Some(count),
        ..Options::default()
    }
}

/// Waits until no live query has anything to do.
pub fn wait_until_quiet(db: &Database) {
    let (tell, hear) = std::sync::mpsc::channel();
    db.engine().when_quiet(Box::new(move || {
        let _ = tell.send(());
    }));
    hear.recv().unwrap();
}
