//! Writing: one connection, on one worker at a time, one transaction at a time.
//!
//! ```text
//! serving     the turns of the writer: takes queued jobs and steps; replaces the connection after a panic
//! gathering   how long a group waits for more writes
//! group       writes that share a transaction          unwrapped   SQL that manages transactions itself
//! transaction a transaction of a caller, step by step
//! unit        one write inside an open transaction     script, statements  its kinds that have files of their own
//! hook        what takes part in each transaction from above (the log of entries); hooked: BEGIN and COMMIT with it
//! resting     has a file rest that is not used
//! writing     the connection, and the transaction on it, which know nothing of the above
//! commit      BEGIN, COMMIT, ROLLBACK, and what follows from each
//! foreign_keys  a transaction without them             rekey       a change of the key
//! checkpoint  checkpoints of the write-ahead log, after the replies; log_pauses: those for which new reads wait
//! ```

mod checkpoint;
mod classify;
mod commit;
mod context;
mod files;
mod foreign_keys;
mod gathering;
mod group;
mod hook;
mod hooked;
mod job;
mod log_pauses;
mod moves;
mod rekey;
mod reply;
mod resting;
mod script;
mod serving;
mod statements;
mod transaction;
mod unit;
mod unwrapped;
mod writing;

pub(crate) use self::{
    classify::{runs_unwrapped, script_runs_unwrapped, statement_runs_unwrapped},
    context::{Counters, WriterContext},
    hook::{CommitHook, HookSource, Wrapping},
    job::{Begin, CheckpointJob, HookJob, RekeyJob, WriteJob},
    reply::Done,
    resting::RestTimer,
    serving::WriterTask,
    writing::Writing,
};
use crate::commits::observer::CommitFollower;

/// A writer.
struct Writer {
    /// The observers' parts that this writer has. Declared first, so that the writing connection is closed last.
    followers: Vec<Box<dyn CommitFollower>>,
    /// Takes part in each transaction.
    hook: Option<Box<dyn CommitHook>>,
    writing: Writing,
}
