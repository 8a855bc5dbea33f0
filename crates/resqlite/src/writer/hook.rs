//! The one way to take part in the transactions of a writer: a hook is asked before a COMMIT, and sees the changes on the way.

use resqlite_sqlite::Connection;

use super::{job::HookJob, reply::Done, writing::Writing};
use crate::{
    core::{commit_id::CommitId, error::Result},
    guard::effects::Effects,
    requests::request::{Write, WriteOp},
};

/// Gives each writer its hook.
pub(crate) trait HookSource: Send + Sync {
    /// Returns the hook of a writer that has opened its connection.
    fn follow(&self, writing: &mut Writing) -> Box<dyn CommitHook>;

    /// Called when a writer was lost, so that nobody knows what it has committed last.
    fn writer_lost(&self);
}

/// Takes part in the transactions of one writer. The writer owns the hook.
pub(crate) trait CommitHook {
    /// Called before callers write. They must find the connection as it is set up for them.
    fn before_callers(&mut self, writing: &mut Writing);

    /// Does the hook's own jobs, between two transactions.
    fn serve(&mut self, writing: &mut Writing, jobs: Vec<Box<dyn HookJob>>);

    /// Called before SQL runs that cannot share a transaction.
    ///
    /// # Errors
    /// If the SQL cannot run here.
    fn before_unwrapped(&mut self, writing: &mut Writing, op: &WriteOp) -> Result<Wrapping>;

    /// Called after SQL that cannot share a transaction has run as it is written.
    fn after_unwrapped(&mut self, writing: &mut Writing);

    /// Called when a transaction has begun, holds the write lock, and has written nothing yet. After an error, the transaction is
    /// rolled back. `names_changed`: somebody else has changed the schema since the last transaction.
    fn begun(&mut self, writing: &mut Writing, names_changed: bool) -> Result<()>;

    /// Called before a point is marked to which the transaction may be undone.
    fn before_mark(&mut self, writing: &mut Writing) -> Result<()>;

    /// Called before a statement with these effects runs.
    fn before_statement(&mut self, connection: &Connection, effects: &Effects) -> Result<()>;

    /// Called before the statement runs once for each of several sets of parameters.
    fn before_sets(&mut self, effects: &Effects) -> Result<()>;

    /// Called after a statement with this text has run.
    fn after_statement(&mut self, connection: &Connection, effects: &Effects, sql: &str) -> Result<()>;

    /// Receives the writes of the transaction, with the result of each.
    fn wrote(&mut self, writes: &[&Write], done: &[Result<Done>]);

    /// Called when all statements of the transaction have run. Returns the id of its commit, if the id is not the commit's number.
    /// `again`: the transaction has been refused before, because entries of other nodes were first.
    ///
    /// # Errors
    /// If the transaction may not commit.
    fn before_commit(&mut self, writing: &mut Writing, again: bool) -> Result<Option<CommitId>>;

    /// Called when COMMIT has succeeded or failed, after [`before_commit`](Self::before_commit) has let it pass. May explain the
    /// error.
    fn after_commit(&mut self, writing: &mut Writing, committed: &mut Result<CommitId>);

    /// Called before a failure is reported that the newest state might not have caused.
    ///
    /// # Errors
    /// If the state was not the newest one.
    fn before_failure(&mut self, writing: &mut Writing, again: bool) -> Result<()>;

    /// Brings the database up to date, after a transaction was overtaken and rolled back.
    fn catch_up(&mut self, writing: &mut Writing) -> Result<()>;

    /// Returns whether commits take long, so that a group waits for the callers who were just answered.
    fn is_slow(&self) -> bool;

    /// Returns whether another writer would find in the database all that this hook knows.
    fn may_rest(&self) -> bool;

    /// Called before the writer closes its connection.
    fn before_close(&mut self, writing: &mut Writing);
}

/// The way in which SQL runs if it cannot share a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// As it is written, outside of a transaction.
    No,
    /// In a transaction of its own.
    Yes,
}
