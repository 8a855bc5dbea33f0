//! A database on the file system that fails, and everything that was asked of it.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    path::Path,
    rc::Rc,
    sync::{Arc, mpsc},
    time::Duration,
};

use resqlite::{
    Cursor, Database, Durability, Error, Options, Result, Rows, Snapshot, Transaction, Value,
    binding::{ColumnLayout, Integers, Outcome, Reply, RowBatch, Token, Write, WriteOp},
};
use resqlite_sqlite::fault_vfs::Tap;
use tempfile::TempDir;

use crate::{
    asked::{Asked, ask},
    folder::temp_folder,
    key::keyed,
    ledger::{Ledger, PARTS, Place, Told},
    live::Live,
    watchdog::Watch,
};

/// How a scenario has its database.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub durability: Durability,
    pub page_size: u32,
    /// Characters in each row.
    pub pad: i64,
    pub pragmas: &'static [(&'static str, &'static str)],
    /// Whether the engine opens the file before anything fails.
    pub opened: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            page_size: 1024,
            pad: 40,
            pragmas: &[],
            opened: true,
        }
    }
}

const SCHEMA: &str = "
    CREATE TABLE log(id INTEGER, part INTEGER, pad TEXT, PRIMARY KEY (id, part));
    CREATE TABLE tally(n INTEGER);
    INSERT INTO tally VALUES (0);
    CREATE TRIGGER logged AFTER INSERT ON log BEGIN UPDATE tally SET n = n + 1; END";

/// One row of a write: its number, the part, the length of its text.
const ONE_ROW: &str = "INSERT INTO log VALUES (?1, ?2, printf('%.*c', ?3, char(65 + ?1 % 26)))";
/// All rows of a write.
const INTO_MAIN: &str = "INSERT INTO main.log SELECT ?1, part, printf('%.*c', ?2, char(65 + ?1 % 26))
                         FROM (SELECT 1 AS part UNION ALL SELECT 2 UNION ALL SELECT 3)";
const INTO_OTHER: &str = "INSERT INTO other.log SELECT ?1, part, printf('%.*c', ?2, char(65 + ?1 % 26))
                          FROM (SELECT 1 AS part UNION ALL SELECT 2 UNION ALL SELECT 3)";
/// Writes that a scenario finds done.
const BEFORE: i64 = 12;

pub struct World {
    db: RefCell<Option<Rc<Database>>>,
    pub lives: RefCell<Vec<Live>>,
    pub ledger: RefCell<Ledger>,
    pub watch: Watch,
    pub tap: Tap,
    pub setting: Setting,
    /// Answers to reads that were not what they should be.
    pub wrong: RefCell<Vec<String>>,
    pub failed: Cell<usize>,
    folder: TempDir,
}

/// A request that writes, under way.
pub struct Writing<'a> {
    place: Place,
    number: i64,
    asked: Asked<'a, Result<()>>,
}

struct Teller(mpsc::Sender<Result<()>>);

impl Reply for Teller {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        // The run listens until it has heard.
        let _ = self.0.send(outcome.map(drop));
    }
}

/// Files that a run may copy instead of making them.
pub struct Template(TempDir);

impl Template {
    pub fn make(setting: Setting) -> Self {
        let folder = temp_folder();
        for name in ["main.db", "other.db"] {
            let options = Options {
                pragmas: vec![("page_size".into(), setting.page_size.to_string())],
                ..Options::default()
            };
            pollster::block_on(async {
                let db = Database::open(path(&folder, name).as_str(), keyed(options)).await?;
                db.exec(SCHEMA).await?;
                for number in 1..=BEFORE {
                    db.execute(INTO_MAIN, [number.into(), setting.pad.into()]).await?;
                }
                db.close().await
            })
            .expect("nothing fails yet");
        }
        Self(folder)
    }
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("UTF-8").to_owned()
}

impl World {
    pub fn new(template: &Template, setting: Setting, run: &str) -> Self {
        let folder = temp_folder();
        let mut ledger = Ledger::default();
        for name in ["main.db", "other.db"] {
            std::fs::copy(path(&template.0, name), path(&folder, name)).expect("a copy");
        }
        for _ in 0..BEFORE {
            let number = ledger.number();
            ledger.note(Place::Main, number, Told::Done);
            ledger.note(Place::Other, number, Told::Done);
        }
        let tap = Tap::on(folder.path()).expect("a folder");
        let world = Self {
            db: RefCell::default(),
            lives: RefCell::default(),
            ledger: RefCell::new(ledger),
            watch: Watch::on(run),
            tap,
            setting,
            wrong: RefCell::default(),
            failed: Cell::new(0),
            folder,
        };
        if setting.opened {
            world.open().expect("nothing fails yet");
        }
        world
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> String {
        path(&self.folder, name)
    }

    pub fn db(&self) -> Rc<Database> {
        Rc::clone(self.db.borrow().as_ref().expect("it is open"))
    }

    pub fn is_open(&self) -> bool {
        self.db.borrow().is_some()
    }

    /// Opens the database as the setting says.
    pub fn open(&self) -> Result<()> {
        let pragmas = self.setting.pragmas.iter();
        let options = Options {
            durability: self.setting.durability,
            readers: Some(2),
            busy_timeout: Some(Duration::from_millis(30)),
            pragmas: pragmas
                .map(|(name, value)| (String::from(*name), String::from(*value)))
                .collect(),
            ..Options::default()
        };
        let path = self.file("main.db");
        let db = self.note(self.wait("open", Database::open(&path, keyed(options))))?;
        self.watch.engine(Arc::downgrade(db.engine()));
        *self.db.borrow_mut() = Some(Rc::new(db));
        Ok(())
    }

    /// Closes it, with all live queries.
    pub fn close(&self) {
        self.lives.borrow_mut().clear();
        let Some(db) = self.db.borrow_mut().take() else {
            return;
        };
        let db = Rc::into_inner(db).expect("nobody else uses it");
        self.wait("close", db.close()).expect("closing never fails");
    }

    /// Waits for an answer.
    pub fn wait<T>(&self, what: &str, answer: impl Future<Output = T>) -> T {
        self.watch.wait(what, || pollster::block_on(answer))
    }

    /// Counts what failed.
    pub fn note<T>(&self, result: Result<T>) -> Result<T> {
        self.failed.set(self.failed.get() + usize::from(result.is_err()));
        result
    }

    pub fn expect(&self, right: bool, what: impl FnOnce() -> String) {
        if !right {
            self.wrong.borrow_mut().push(what());
        }
    }

    pub fn number(&self) -> i64 {
        self.ledger.borrow_mut().number()
    }

    /// Asks for a write.
    pub fn begin_write<'a>(&self, db: &'a Database, place: Place) -> Writing<'a> {
        let (number, pad) = (self.number(), self.setting.pad);
        let sql = match place {
            Place::Main => INTO_MAIN,
            Place::Other => INTO_OTHER,
        };
        let asked = ask(async move { db.execute(sql, [number.into(), pad.into()]).await.map(drop) });
        Writing { place, number, asked }
    }

    /// Asks the engine for a write, which outlives the `Database`.
    pub fn begin_write_of_engine(&self) -> (i64, mpsc::Receiver<Result<()>>) {
        let (number, pad) = (self.number(), self.setting.pad);
        let (told, hear) = mpsc::channel();
        let write = Write {
            op: WriteOp::Execute {
                sql: INTO_MAIN.into(),
                params: [number.into(), pad.into()].into(),
            },
            durability: Durability::Full,
            integers: Integers::BigInt,
            token: Token::default(),
            tag: None,
        };
        self.db().engine().write(write, Box::new(Teller(told)));
        (number, hear)
    }

    pub fn end_write_of_engine(&self, (number, hear): (i64, mpsc::Receiver<Result<()>>)) {
        let done = self.watch.wait("an answer of the engine", || hear.recv());
        let done = self.note(done.expect("every request is answered"));
        self.tell(Place::Main, number, &done);
    }

    pub fn begin_batch<'a>(&self, db: &'a Database) -> Writing<'a> {
        let (number, sets) = self.batch();
        let asked = ask(async move { db.execute_batch(ONE_ROW, &sets).await.map(drop) });
        Writing {
            place: Place::Main,
            number,
            asked,
        }
    }

    fn batch(&self) -> (i64, Vec<Vec<Value>>) {
        let number = self.number();
        let set = |part: i64| vec![number.into(), part.into(), self.setting.pad.into()];
        (number, (1..=PARTS).map(set).collect())
    }

    /// Waits for a write, and enters in the ledger what was told.
    pub fn end_write(&self, writing: Writing<'_>) -> Result<()> {
        let Writing { place, number, asked } = writing;
        let what = format!("write {number} to {place:?}");
        let done = self.note(self.watch.wait(&what, || asked.wait()));
        self.tell(place, number, &done);
        done
    }

    pub fn tell(&self, place: Place, number: i64, done: &Result<()>) {
        let told = match done {
            Ok(()) => Told::Done,
            Err(error) if error.to_string().contains("may have reached") => Told::Unknown(explained(error)),
            Err(error) => Told::Refused(explained(error)),
        };
        self.ledger.borrow_mut().note(place, number, told);
    }

    pub fn write(&self) -> Result<()> {
        let db = self.db();
        self.end_write(self.begin_write(&db, Place::Main))
    }

    pub fn batch_write(&self) -> Result<()> {
        let db = self.db();
        self.end_write(self.begin_batch(&db))
    }

    /// Something that writes nothing which the ledger knows.
    pub fn run(&self, sql: &str) -> Result<()> {
        let db = self.db();
        self.note(self.wait(sql, db.execute(sql, ())).map(drop))
    }

    /// Begins a transaction, which holds the writer.
    pub fn begin(&self) -> Result<Transaction> {
        let db = self.db();
        self.note(self.wait("begin", db.begin(None)))
    }

    /// A write inside a transaction: its number, which is in the ledger only when the transaction ends.
    pub fn write_in(&self, transaction: &Transaction, place: Place) -> (i64, Result<()>) {
        let (number, pad) = (self.number(), self.setting.pad);
        let sql = match place {
            Place::Main => INTO_MAIN,
            Place::Other => INTO_OTHER,
        };
        let done = self.wait(
            "execute in a transaction",
            transaction.execute(sql, [number.into(), pad.into()]),
        );
        (number, self.note(done.map(drop)))
    }

    pub fn select(&self, sql: &str) -> Result<Rows> {
        let db = self.db();
        self.note(self.wait(sql, db.select(sql, ())))
    }

    pub fn snapshot(&self) -> Result<Snapshot> {
        let db = self.db();
        self.note(self.wait("snapshot", db.snapshot()))
    }

    pub fn iterate(&self, sql: &str, batch: usize) -> Result<Cursor<'static>> {
        let db = self.db();
        self.note(self.wait(sql, db.iterate(sql, (), batch)))
    }

    pub fn live(&self, sql: &'static str) {
        let live = Live::begin(&self.db(), sql);
        self.lives.borrow_mut().push(live);
    }
}

/// The error with its code.
pub fn explained(error: &Error) -> String {
    format!("{} ({})", error, error.code())
}
