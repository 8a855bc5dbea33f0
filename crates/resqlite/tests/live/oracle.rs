//! What must come of the steps of a script: a plain SQLite connection does them one after the other, each alone.

use std::cell::OnceCell;

use resqlite::Value;
use resqlite_sqlite::{Connection, Error, Result, Statement as Prepared, ValueRef};
use tempfile::TempDir;

use crate::{
    contents::{self, Contents, Row},
    script::{Setup, Statement, Step},
    world::{Wrote, all_or_nothing, file_with_encoding, path_in},
};

/// What a step must come to.
#[derive(Debug, Clone)]
pub enum Expected {
    /// The step does not write, or makes no sense here.
    Nothing,
    /// It works; numbers are not looked at.
    Works,
    Rows {
        returned: Vec<Row>,
        changes: i64,
        /// Not where it may come from an earlier write of the transaction or group: FTS5 leaves rowids of its own.
        last_insert_rowid: Option<i64>,
    },
    /// SQLite refuses it with this code.
    Fails(String),
    /// The transaction is over already.
    Over,
}

impl Expected {
    /// Without what may come from earlier writes.
    fn of_itself(mut self, step: &Step) -> Self {
        if let Self::Rows {
            changes,
            last_insert_rowid,
            ..
        } = &mut self
            && (*changes == 0 || !step.inserts())
        {
            *last_insert_rowid = None;
        }
        self
    }

    /// Whether SQLite says that the file is damaged.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Fails(code) if code.starts_with("SQLITE_CORRUPT"))
    }

    /// Whether the engine did just that.
    pub fn is_met(&self, wrote: &Wrote) -> bool {
        match (self, wrote) {
            (Self::Nothing, Wrote::Nothing) | (Self::Works, Wrote::Other | Wrote::Rows(_)) => true,
            (
                Self::Rows {
                    returned,
                    changes,
                    last_insert_rowid,
                },
                Wrote::Rows(done),
            ) => {
                *changes == done.changes
                    && last_insert_rowid.is_none_or(|rowid| rowid == done.last_insert_rowid)
                    && contents::same_rows(returned, &contents::rows(&done.rows))
            }
            (Self::Fails(code), Wrote::Failed(error)) => code == error.code(),
            (Self::Over, Wrote::Failed(error)) => error.code() == "RESQLITE_TRANSACTION",
            _ => false,
        }
    }
}

/// Stands where no row has been inserted, since a table may have no rowids.
const NO_ROWID: i64 = i64::MIN + 7;

/// What a write does, in a transaction that somebody else manages.
type Work = dyn Fn(&Connection) -> Result<Expected>;

/// A transaction of the caller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    Open,
    /// SQLite rolled it back, and the caller has not ended it yet.
    Over,
}

pub struct Oracle {
    connection: Connection,
    foreign: OnceCell<Connection>,
    folder: Option<TempDir>,
    transaction: Transaction,
    /// Open savepoints of it.
    level: u32,
}

impl Oracle {
    pub fn open(setup: &Setup) -> Self {
        let folder = setup
            .file
            .then(|| tempfile::tempdir().expect("a temporary folder"));
        let path = folder
            .as_ref()
            .map_or(":memory:".into(), |folder| path_in(folder, "main.db"));
        if folder.is_some() {
            file_with_encoding(&path, setup.utf16);
        }
        let connection = connect(&path);
        let recursive = if setup.recursive_triggers { "ON" } else { "OFF" };
        connection
            .execute_script(&format!(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; \
                 PRAGMA recursive_triggers = {recursive}"
            ))
            .expect("a database can be set up");
        Self {
            connection,
            foreign: OnceCell::new(),
            folder,
            transaction: Transaction::None,
            level: 0,
        }
    }

    /// Does what a step says.
    pub fn run(&mut self, step: &Step) -> Expected {
        match step {
            Step::Subscribe { .. } | Step::Unsubscribe(_) | Step::Reopen | Step::Lag | Step::Check => {
                Expected::Nothing
            }
            Step::Attach if self.folder.is_none() => Expected::Nothing,
            Step::Foreign(_) if self.folder.is_none() || self.transaction != Transaction::None => {
                Expected::Nothing
            }
            Step::Foreign(sql) => expected(self.foreign(sql)),
            Step::Begin
            | Step::Commit
            | Step::Rollback
            | Step::Savepoint
            | Step::Release
            | Step::RollbackTo => self.control(step),
            _ if self.transaction == Transaction::Over => Expected::Over,
            step => self.write(step),
        }
    }

    fn write(&mut self, step: &Step) -> Expected {
        let work: Box<Work> = match step {
            Step::Attach => {
                let path = path_in(self.folder.as_ref().expect("asked before"), "aux.db");
                return expected(self.attach(&path));
            }
            Step::Detach => return expected(self.connection.execute_script("DETACH aux")),
            Step::Write(Statement { sql, params }) | Step::Queue(Statement { sql, params }) => {
                let (sql, sets) = (sql.clone(), vec![params.clone()]);
                Box::new(move |connection| run_sets(connection, &sql, &sets))
            }
            Step::Batch { sql, sets } => {
                let (sql, sets) = (sql.clone(), sets.clone());
                Box::new(move |connection| run_sets(connection, &sql, &sets))
            }
            Step::Script(sql) if runs_alone(sql) => return expected(self.connection.execute_script(sql)),
            Step::Script(sql) => {
                let sql = sql.clone();
                Box::new(move |connection| connection.execute_script(&sql).map(|()| Expected::Works))
            }
            _ => unreachable!("no write: {step}"),
        };
        let done = match self.transaction {
            Transaction::Open => self.inside(&work).map(|done| done.of_itself(step)),
            _ if matches!(step, Step::Queue(_)) => {
                self.alone(NO_ROWID, &work).map(|done| done.of_itself(step))
            }
            _ => self.alone(0, &work),
        };
        done.unwrap_or_else(|error| Expected::Fails(error.name().into()))
    }

    fn attach(&self, path: &str) -> Result<()> {
        let mut attach = prepare(&self.connection, "ATTACH ? AS aux")?;
        attach.bind(1, ValueRef::Text(path.as_bytes()))?;
        attach.step().map(drop)
    }

    /// In a transaction of its own, of which nothing is left if it fails. `rowid`: the last one inserted, before it.
    fn alone(&self, rowid: i64, work: &Work) -> Result<Expected> {
        self.must("BEGIN IMMEDIATE");
        self.connection.set_last_insert_rowid(rowid);
        let done =
            work(&self.connection).and_then(|done| self.connection.execute_script("COMMIT").map(|()| done));
        if !self.connection.is_autocommit() {
            self.must("ROLLBACK");
        }
        done
    }

    /// In the open transaction, under a savepoint.
    fn inside(&mut self, work: &Work) -> Result<Expected> {
        self.must("SAVEPOINT one");
        self.connection.set_last_insert_rowid(NO_ROWID);
        let done = work(&self.connection);
        if self.connection.is_autocommit() {
            self.transaction = Transaction::Over;
            return done;
        }
        if done.is_err() {
            self.must("ROLLBACK TO one");
        }
        self.must("RELEASE one");
        done
    }

    fn control(&mut self, step: &Step) -> Expected {
        let open = self.transaction != Transaction::None;
        let sql = match step {
            Step::Begin if !open => {
                self.transaction = Transaction::Open;
                self.level = 0;
                self.connection.set_last_insert_rowid(0);
                "BEGIN IMMEDIATE".into()
            }
            Step::Savepoint if open => {
                self.level += 1;
                format!("SAVEPOINT level_{}", self.level)
            }
            Step::Release if open && self.level > 0 => {
                self.level -= 1;
                format!("RELEASE level_{}", self.level + 1)
            }
            Step::RollbackTo if open && self.level > 0 => {
                self.level -= 1;
                let level = self.level + 1;
                format!("ROLLBACK TO level_{level}; RELEASE level_{level}")
            }
            Step::Commit if open => "COMMIT".into(),
            Step::Rollback if open => "ROLLBACK".into(),
            _ => return Expected::Nothing,
        };
        let over = self.transaction == Transaction::Over;
        let ends = matches!(step, Step::Commit | Step::Rollback);
        if ends {
            self.transaction = Transaction::None;
        }
        if over {
            return Expected::Over;
        }
        let done = self.connection.execute_script(&sql);
        if ends && !self.connection.is_autocommit() {
            self.must("ROLLBACK");
        }
        expected(done)
    }

    fn foreign(&self, sql: &str) -> Result<()> {
        let folder = self.folder.as_ref().expect("asked before");
        let stranger = self.foreign.get_or_init(|| connect(&path_in(folder, "main.db")));
        let done = all_or_nothing(stranger, sql);
        // SQLite decides what ALTER may do by the schema that it knew before.
        self.must("SELECT 1 FROM sqlite_schema");
        done
    }

    fn must(&self, sql: &str) {
        self.connection
            .execute_script(sql)
            .unwrap_or_else(|error| panic!("plain SQLite refuses {sql}: {error}"));
    }

    /// Whether the caller has a transaction to end.
    pub fn holds_writer(&self) -> bool {
        self.transaction != Transaction::None
    }

    /// Whether that transaction is over already.
    pub fn is_stuck(&self) -> bool {
        self.transaction == Transaction::Over
    }

    /// What all tables hold, those of `temp` only in a transaction: others than the writer do not see them.
    pub fn contents(&self) -> Contents {
        contents::read(self.holds_writer(), |sql| {
            let mut statement = prepare(&self.connection, sql).map_err(|error| error.name())?;
            rows_of(&mut statement).map_err(|error| error.name())
        })
    }
}

fn expected(done: Result<()>) -> Expected {
    match done {
        Ok(()) => Expected::Works,
        Err(error) => Expected::Fails(error.name().into()),
    }
}

fn connect(path: &str) -> Connection {
    crate::key::connect(path).expect("a database can be opened")
}

/// Whether the script cannot run in a transaction, so that its statements stand for themselves.
fn runs_alone(sql: &str) -> bool {
    ["PRAGMA", "VACUUM"].iter().any(|word| sql.starts_with(word))
}

fn prepare(connection: &Connection, sql: &str) -> Result<Prepared> {
    let prepared = connection.prepare(sql, false)?;
    Ok(prepared.statement.expect("one statement"))
}

fn run_sets(connection: &Connection, sql: &str, sets: &[Vec<Value>]) -> Result<Expected> {
    let mut statement = prepare(connection, sql)?;
    let counts = ["INSERT", "UPDATE", "DELETE"]
        .iter()
        .any(|word| sql.starts_with(word));
    let (mut returned, mut changes) = (Vec::new(), 0);
    for set in sets {
        if statement.parameter_count() != set.len() {
            return Ok(Expected::Fails("RESQLITE_PARAMETER".into()));
        }
        for (at, value) in set.iter().enumerate() {
            statement.bind(at + 1, value.into())?;
        }
        let rows = rows_of(&mut statement);
        statement.reset();
        returned.extend(rows?);
        changes += if counts { connection.changes() } else { 0 };
    }
    Ok(Expected::Rows {
        returned,
        changes,
        last_insert_rowid: Some(connection.last_insert_rowid()).filter(|rowid| *rowid != NO_ROWID),
    })
}

fn rows_of(statement: &mut Prepared) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    while statement.step()? {
        let columns = 0..statement.column_count();
        rows.push(columns.map(|column| statement.column(column).into()).collect());
    }
    Ok(rows)
}
