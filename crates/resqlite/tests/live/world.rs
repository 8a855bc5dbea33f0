//! The database that a script runs on, and the steps that write.

use std::sync::mpsc::{self, Receiver};

use pollster::block_on;
use resqlite::{
    Database, Error, Execution, Integers, Options, Outcome, Params, Reply, Result, Rows, Shape, Slice, Token,
    Transaction, Value, Work, Write,
};
use tempfile::TempDir;

use crate::script::{Setup, Statement, Step};

/// An open database with what is under way on it.
pub struct World {
    pub db: Database,
    folder: Option<TempDir>,
    transaction: Option<Transaction>,
    /// Open savepoints of it.
    level: u32,
    queued: Vec<Receiver<Result<i64>>>,
    /// How often a database was attached or detached.
    pub attachments: u64,
}

/// What a step that writes has led to.
pub enum Wrote {
    /// The step does not write, or made no sense here.
    Nothing,
    /// Rows changed.
    Rows(i64),
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
        Ok(Self {
            db: block_on(Database::open(&path, options))?,
            folder,
            transaction: None,
            level: 0,
            queued: Vec::new(),
            attachments: 0,
        })
    }

    /// Runs a step that writes, or that begins or ends something.
    pub fn run(&mut self, step: &Step) -> Wrote {
        match step {
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
                None => block_on(self.db.execute_batch(sql, sets)),
            }),
            Step::Script(sql) => other(match &self.transaction {
                Some(transaction) => block_on(transaction.exec(sql)),
                None => block_on(self.db.exec(sql)),
            }),
            _ => self.control(step),
        }
    }

    fn control(&mut self, step: &Step) -> Wrote {
        match (step, &self.transaction) {
            (Step::Begin, None) => match block_on(self.db.begin(None)) {
                Ok(transaction) => {
                    self.transaction = Some(transaction);
                    self.level = 0;
                    Wrote::Other
                }
                Err(error) => Wrote::Failed(error),
            },
            (Step::Savepoint, Some(transaction)) => {
                self.level += 1;
                other(block_on(transaction.savepoint(self.level)))
            }
            (Step::Release, Some(transaction)) if self.level > 0 => {
                self.level -= 1;
                other(block_on(transaction.release(self.level + 1)))
            }
            (Step::RollbackTo, Some(transaction)) if self.level > 0 => {
                self.level -= 1;
                other(block_on(transaction.rollback_to(self.level + 1)))
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
            None => block_on(self.db.execute(sql, params)),
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

    fn queue(&mut self, statement: &Statement) {
        let (told, hear) = mpsc::channel();
        let write = Write {
            work: Work::Execute {
                sql: statement.sql.as_str().into(),
                params: Params::from(&statement.params[..]),
            },
            full: false,
            integers: Integers::BigInt,
            token: Token::default(),
        };
        self.db.engine().write(write, Box::new(Tell(told)));
        self.queued.push(hear);
    }

    /// Waits for the writes that were queued.
    pub fn settle(&mut self) -> Vec<Wrote> {
        self.queued
            .drain(..)
            .map(|hear| match hear.recv().expect("every write is answered") {
                Ok(changes) => Wrote::Rows(changes),
                Err(error) => Wrote::Failed(error),
            })
            .collect()
    }

    pub fn select(&self, statement: &Statement) -> Result<Rows> {
        block_on(self.db.select(&statement.sql, &statement.params[..]))
    }

    /// Ends what is open and closes the database.
    pub fn close(mut self) {
        self.settle();
        drop(self.transaction.take());
        block_on(self.db.close()).expect("closing never fails");
    }
}

fn path_in(folder: &TempDir, file: &str) -> String {
    folder
        .path()
        .join(file)
        .to_str()
        .expect("a path in UTF-8")
        .to_owned()
}

fn rows(done: Result<Execution>) -> Wrote {
    done.map_or_else(Wrote::Failed, |done| Wrote::Rows(done.changes))
}

fn other(done: Result<()>) -> Wrote {
    done.map_or_else(Wrote::Failed, |()| Wrote::Other)
}

/// Tells the number of changed rows, or the error.
struct Tell(mpsc::Sender<Result<i64>>);

impl Reply for Tell {
    fn rows(&mut self, _: &std::sync::Arc<Shape>, _: &Slice<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let changes = outcome.map(|outcome| match outcome {
            Outcome::Written(_, written) => written.changes,
            _ => 0,
        });
        // Nobody waits for it when the test has failed already.
        let _ = self.0.send(changes);
    }
}
