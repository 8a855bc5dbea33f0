//! The database that a script runs on, and the steps that write.

use std::{
    cell::Cell,
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
};

use pollster::block_on;
use resqlite::{
    Database, Durability, Error, Options, Params, Result, Rows, Transaction, Value, WriteResult,
    binding::{ColumnLayout, Integers, Outcome, Reply, RowBatch, Token, Write, WriteOp},
};
use resqlite_sqlite::Connection;
use tempfile::TempDir;

use crate::{
    contents::{self, Contents},
    key::{connect, keyed},
    listening::Fold,
    script::{Setup, Statement, Step},
};

/// An open database with what is under way on it.
pub struct World {
    pub db: Database,
    /// Further handles of the same file.
    others: Vec<Database>,
    /// Counts the writes, which go round the handles.
    turn: Cell<usize>,
    path: String,
    options: Options,
    /// Connections that the engine knows nothing of: one writes, the other sees whether it has.
    strangers: Option<[Connection; 2]>,
    folder: Option<TempDir>,
    transaction: Option<Transaction>,
    /// Its open savepoints: whether they were opened by a statement, as every other one is.
    open: Vec<bool>,
    /// How many there were so far.
    savepoints: u32,
    /// Writes that are to wait together.
    waiting: Vec<Write>,
    queued: Vec<Receiver<Result<WriteResult>>>,
    /// How often a database was attached or detached.
    pub attachments: u64,
    /// Commits of the stranger.
    pub external_commits: u64,
}

/// What a step that writes has led to.
#[derive(Debug)]
pub enum Wrote {
    /// The step does not write, or made no sense here.
    Nothing,
    /// A statement worked.
    Rows(WriteResult),
    /// The schema, or a transaction.
    Other,
    Failed(Error),
}

impl World {
    pub fn open(setup: &Setup) -> Result<Self> {
        let folder = setup
            .file
            .then(|| tempfile::tempdir().expect("a temporary folder"));
        let path = folder
            .as_ref()
            .map_or(":memory:".into(), |folder| path_in(folder, "main.db"));
        if folder.is_some() {
            file_with_encoding(&path, setup.utf16);
        }
        let options = Options {
            readers: Some(setup.readers),
            statement_cache_size: Some(setup.statement_cache),
            pragmas: if setup.recursive_triggers {
                vec![("recursive_triggers".into(), "ON".into())]
            } else {
                Vec::new()
            },
            ..Options::default()
        };
        let open = || block_on(Database::open(&path, keyed(options.clone())));
        let others = if folder.is_some() { setup.handles - 1 } else { 0 };
        Ok(Self {
            db: open()?,
            others: (0..others).map(|_| open()).collect::<Result<_>>()?,
            turn: Cell::new(0),
            path,
            options,
            strangers: None,
            folder,
            transaction: None,
            open: Vec::new(),
            savepoints: 0,
            waiting: Vec::new(),
            queued: Vec::new(),
            attachments: 0,
            external_commits: 0,
        })
    }

    /// The handle whose turn it is.
    fn handle(&self) -> &Database {
        let turn = self.turn.replace(self.turn.get() + 1);
        std::iter::once(&self.db)
            .chain(&self.others)
            .nth(turn % (1 + self.others.len()))
            .expect("there are so many")
    }

    /// Runs a step that writes, or that begins or ends something.
    pub fn run(&mut self, step: &Step) -> Wrote {
        if !matches!(step, Step::Queue(_)) {
            self.send();
        }
        match step {
            Step::Foreign(sql) => self.foreign(sql),
            Step::Reopen => self.reopen(),
            Step::Attach => self.attach(),
            Step::Detach => {
                self.attachments += 1;
                self.execute("DETACH aux", &[])
            }
            Step::Queue(statement) if self.transaction.is_none() => {
                self.queue(statement);
                Wrote::Nothing
            }
            Step::Write(statement) | Step::Queue(statement) => {
                self.execute(&statement.sql, &statement.params)
            }
            Step::Batch { sql, sets } => rows(match &self.transaction {
                Some(transaction) => block_on(transaction.execute_batch(sql, sets)),
                None => block_on(self.handle().execute_batch(sql, sets)),
            }),
            Step::Script(sql) => other(match &self.transaction {
                Some(transaction) => block_on(transaction.exec(sql)),
                None => block_on(self.handle().exec(sql)),
            }),
            _ => self.control(step),
        }
    }

    fn control(&mut self, step: &Step) -> Wrote {
        match (step, &self.transaction) {
            (Step::Begin, None) => match block_on(self.handle().begin(None)) {
                Ok(transaction) => {
                    self.transaction = Some(transaction);
                    self.open.clear();
                    Wrote::Other
                }
                Err(error) => Wrote::Failed(error),
            },
            (Step::Savepoint, Some(transaction)) => {
                self.savepoints += 1;
                let by_statement = self.savepoints % 2 == 1;
                self.open.push(by_statement);
                let level = self.open.len() as u32;
                other(if by_statement {
                    run(transaction, &[format!("SAVEPOINT level_{level}")])
                } else {
                    block_on(transaction.savepoint(level))
                })
            }
            (Step::Release, Some(transaction)) => {
                let level = self.open.len() as u32;
                match self.open.pop() {
                    Some(true) => other(run(transaction, &[format!("RELEASE level_{level}")])),
                    Some(false) => other(block_on(transaction.release(level))),
                    None => Wrote::Nothing,
                }
            }
            (Step::RollbackTo, Some(transaction)) => {
                let level = self.open.len() as u32;
                let back = ["ROLLBACK TO", "RELEASE"].map(|word| format!("{word} level_{level}"));
                match self.open.pop() {
                    Some(true) => other(run(transaction, &back)),
                    Some(false) => other(block_on(transaction.rollback_to(level))),
                    None => Wrote::Nothing,
                }
            }
            (Step::Commit, Some(_)) => {
                let transaction = self.transaction.take().expect("there is one");
                other(block_on(transaction.commit()).map(drop))
            }
            (Step::Rollback, Some(_)) => {
                let transaction = self.transaction.take().expect("there is one");
                other(block_on(transaction.rollback()))
            }
            _ => Wrote::Nothing,
        }
    }

    fn execute(&self, sql: &str, params: &[Value]) -> Wrote {
        rows(match &self.transaction {
            Some(transaction) => block_on(transaction.execute(sql, params)),
            None => block_on(self.handle().execute(sql, params)),
        })
    }

    /// Nothing is attached to a database in memory.
    fn attach(&mut self) -> Wrote {
        self.attachments += 1;
        match &self.folder {
            Some(folder) => self.execute("ATTACH ? AS aux", &[path_in(folder, "aux.db").into()]),
            None => Wrote::Nothing,
        }
    }

    /// Nobody else but the engine has a database in memory, and a transaction keeps everybody else from writing.
    fn foreign(&mut self, sql: &str) -> Wrote {
        if self.folder.is_none() || self.transaction.is_some() {
            return Wrote::Nothing;
        }
        let path = &self.path;
        let open = || connect(path);
        let [writes, sees] = self.strangers.get_or_insert_with(|| {
            [open(), open()].map(|opened| opened.expect("another connection to the file"))
        });
        let version = |sees: &Connection| sees.query_text("PRAGMA data_version").expect("a version");
        let before = version(sees);
        let done = all_or_nothing(writes, sql);
        self.external_commits += u64::from(version(sees) != before);
        other(done.map_err(Error::from))
    }

    fn reopen(&mut self) -> Wrote {
        if let Some(handle) = self.others.pop() {
            block_on(handle.close()).expect("closing never fails");
            let reopened = block_on(Database::open(&self.path, keyed(self.options.clone())));
            self.others.insert(0, reopened.expect("the file is open already"));
        }
        Wrote::Nothing
    }

    fn queue(&mut self, statement: &Statement) {
        self.waiting.push(Write {
            op: WriteOp::Execute {
                sql: statement.sql.as_str().into(),
                params: Params::from(&statement.params[..]),
            },
            durability: Durability::Normal,
            integers: Integers::BigInt,
            token: Token::default(),
            tag: None,
        });
    }

    /// Sends the writes that are to wait together, while the writer is kept busy.
    fn send(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let busy = block_on(self.db.begin(None)).expect("nobody else has the writer");
        for write in self.waiting.drain(..) {
            let (told, hear) = mpsc::channel();
            let rows = Rows::default();
            self.db.engine().write(write, Box::new(Tell { rows, told }));
            self.queued.push(hear);
        }
        block_on(busy.rollback()).expect("nothing was done in it");
    }

    /// Waits for the writes that were queued.
    pub fn settle(&mut self) -> Vec<Wrote> {
        self.send();
        self.queued
            .drain(..)
            .map(|hear| rows(hear.recv().expect("every write is answered")))
            .collect()
    }

    /// What all tables hold: as the transaction sees it, if one is open, else as readers do.
    pub fn contents(&self) -> Contents {
        contents::read(self.transaction.is_some(), |sql| {
            let rows = match &self.transaction {
                Some(transaction) => block_on(transaction.select(sql, ())),
                None => block_on(self.handle().select(sql, ())),
            };
            rows.map(|rows| contents::rows(&rows))
                .map_err(|error| error.code())
        })
    }

    /// What there is in the schemas that readers see.
    pub fn schema(&self) -> Fold {
        let of = |schema: &str| {
            let sql = format!("SELECT name, rootpage, sql FROM {schema}.sqlite_schema");
            block_on(self.db.select(&sql, ())).map(|rows| Fold::of(&rows))
        };
        let mut all = of("main").unwrap_or_default();
        // Seldom there.
        all.rows.extend(of("aux").unwrap_or_default().rows);
        all
    }

    pub fn select(&self, statement: &Statement) -> Result<Rows> {
        block_on(self.db.select(&statement.sql, &statement.params[..]))
    }

    /// Ends what is open and closes the database.
    pub fn close(mut self) {
        self.settle();
        drop(self.transaction.take());
        for handle in self.others.drain(..) {
            block_on(handle.close()).expect("closing never fails");
        }
        block_on(self.db.close()).expect("closing never fails");
    }
}

pub fn path_in(folder: &TempDir, file: &str) -> String {
    folder
        .path()
        .join(file)
        .to_str()
        .expect("a path in UTF-8")
        .to_owned()
}

/// Makes a file that holds nothing. Its encoding stays.
pub fn file_with_encoding(path: &str, utf16: bool) {
    let encoding = if utf16 { "UTF-16le" } else { "UTF-8" };
    connect(path)
        .and_then(|made| made.execute_script(&format!("PRAGMA encoding = '{encoding}'; VACUUM")))
        .expect("a file can be made");
}

/// Runs a script in one transaction of a connection of its own, which waits for others as long as it takes.
pub fn all_or_nothing(connection: &Connection, script: &str) -> resqlite_sqlite::Result<()> {
    connection.execute_script("PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE")?;
    let done = connection
        .execute_script(script)
        .and_then(|()| connection.execute_script("COMMIT"));
    if !connection.is_autocommit() {
        connection.execute_script("ROLLBACK")?;
    }
    done
}

fn rows(done: Result<WriteResult>) -> Wrote {
    done.map_or_else(Wrote::Failed, Wrote::Rows)
}

/// Runs statements one after the other.
fn run(transaction: &Transaction, statements: &[String]) -> Result<()> {
    statements
        .iter()
        .try_for_each(|sql| block_on(transaction.execute(sql, ())).map(drop))
}

fn other(done: Result<()>) -> Wrote {
    done.map_or_else(Wrote::Failed, |()| Wrote::Other)
}

/// Tells what a write did, or the error.
struct Tell {
    rows: Rows,
    told: mpsc::Sender<Result<WriteResult>>,
}

impl Reply for Tell {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, slice: &RowBatch<'_>) -> bool {
        self.rows.extend(layout, &slice.to_bytes());
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let Self { mut rows, told } = *self;
        let done = outcome.map(|outcome| {
            let Outcome::Written(returned, written) = outcome else {
                panic!("a write is answered with {outcome:?}")
            };
            for (layout, slice) in returned {
                rows.extend(layout, slice);
            }
            WriteResult {
                rows,
                changes: written.changes,
                last_insert_rowid: written.last_insert_rowid,
                commit: written.commit,
            }
        });
        // Nobody waits for it when the test has failed already.
        let _ = told.send(done);
    }
}
