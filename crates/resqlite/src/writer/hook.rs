//! The one way to take part in the transactions of a writer: to be asked before a COMMIT, and to see what changes on the way.

use resqlite_sqlite::Connection;

use super::{job::HookJob, reply::Done, writing::Writing};
use crate::{
    core::{commit_id::CommitId, error::Result},
    guard::effects::Effects,
    requests::request::{Write, WriteOp},
};

/// Gives each writer its hook.
pub(crate) trait HookSource: Send + Sync {
    /// A writer has opened its connection.
    fn follow(&self, writing: &mut Writing) -> Box<dyn CommitHook>;

    /// A writer was lost: nobody knows what it has committed last.
    fn writer_lost(&self);
}

/// Takes part in the transactions of one writer, which has it.
pub(crate) trait CommitHook {
    /// Callers are about to write, who must find the connection as it is set up for them.
    fn before_callers(&mut self, writing: &mut Writing);

    /// Does jobs of its own, between two transactions.
    fn serve(&mut self, writing: &mut Writing, jobs: Vec<Box<dyn HookJob>>);

    /// SQL that cannot share a transaction is about to run.
    ///
    /// # Errors
    /// It cannot run here.
    fn before_unwrapped(&mut self, writing: &mut Writing, op: &WriteOp) -> Result<Wrapping>;

    /// That SQL has run as it is written.
    fn after_unwrapped(&mut self, writing: &mut Writing);

    /// A transaction has begun, holds the write lock, and has written nothing yet. After an error it is rolled back.
    /// `names_changed`: the schema is another than it was in the last transaction, because somebody else has changed it.
    fn begun(&mut self, writing: &mut Writing, names_changed: bool) -> Result<()>;

    /// A point is about to be marked to which the transaction may be undone.
    fn before_mark(&mut self, writing: &mut Writing) -> Result<()>;

    /// A statement of these effects is about to run.
    fn before_statement(&mut self, connection: &Connection, effects: &Effects) -> Result<()>;

    /// The statement is about to run once for each of several sets of parameters.
    fn before_sets(&mut self, effects: &Effects) -> Result<()>;

    /// A statement of this text has run.
    fn after_statement(&mut self, connection: &Connection, effects: &Effects, sql: &str) -> Result<()>;

    /// The writes of the transaction, with what each of them did.
    fn wrote(&mut self, writes: &[&Write], done: &[Result<Done>]);

    /// All statements of the transaction have run. Returns the id that its commit gets, if that is not its number. `again`: it has
    /// been refused before, because entries of others were first.
    ///
    /// # Errors
    /// It may not commit.
    fn before_commit(&mut self, writing: &mut Writing, again: bool) -> Result<Option<CommitId>>;

    /// COMMIT has succeeded or failed, after [`before_commit`](Self::before_commit) has let it pass. May explain the error.
    fn after_commit(&mut self, writing: &mut Writing, committed: &mut Result<CommitId>);

    /// A failure is about to be told, which the newest state might not have brought about.
    ///
    /// # Errors
    /// The state was not the newest one.
    fn before_failure(&mut self, writing: &mut Writing, again: bool) -> Result<()>;

    /// A transaction was overtaken, and is rolled back: brings the database up to date.
    fn catch_up(&mut self, writing: &mut Writing) -> Result<()>;

    /// Commits take long, so a group waits for those who were answered just now.
    fn is_slow(&self) -> bool;

    /// Returns whether another writer would find all that this hook knows in the database.
    fn may_rest(&self) -> bool;

    /// The writer is about to close its connection.
    fn before_close(&mut self, writing: &mut Writing);
}

/// The way in which SQL runs that cannot share a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// As it is written, outside of a transaction.
    No,
    /// In a transaction of its own.
    Yes,
}
