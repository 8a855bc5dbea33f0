//! The request for a live query, and the interface of its listener.

use std::sync::Arc;

use resqlite_live::{Reason, Segment};

use crate::{
    core::{commit_id::CommitId, error::Error, params::Params},
    rows::{ColumnLayout, Integers, RowBatch},
};

/// A live query to begin.
#[derive(Debug, Clone)]
pub struct LiveQueryRequest {
    /// Statements with their parameters; all of them are read from one committed state.
    pub queries: Vec<(Arc<str>, Params)>,
    /// The packing of INTEGERs.
    pub integers: Integers,
    /// The share of commits and re-runs after which the query is audited: run as a whole, to check that nothing has changed.
    /// Only commits that do not affect the query count, and re-runs that looked only at changed rows. From 0 (never) to 1.
    pub verify: f64,
    /// When results are maintained.
    pub maintenance: Maintenance,
}

/// When the results of a live query are maintained: after a commit, only the rows that come from changed base rows are asked
/// for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Maintenance {
    /// Where that is possible, and quicker than to run the whole query.
    #[default]
    WhereQuicker,
    /// Where that is possible, to test it.
    Always,
    /// Never.
    Never,
}

/// The commit, the reason and the run time of an emission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emission {
    /// The emitted state holds this commit and all before it.
    pub commit: CommitId,
    /// The reason why the query ran; `None` for the first time.
    pub reason: Option<Reason>,
    /// The time that the query ran, in microseconds.
    pub micros: u64,
}

/// Receives the results of a live query. Called on engine threads, by one at a time; the thread may be the writer's. Must not
/// block for long, except in [`rows`](Self::rows), which may wait for room, and never for a write. Dropped when no further call
/// follows.
pub trait Listener: Send {
    /// Takes rows that the previous result did not have, in order. They belong to the next [`patch`](Self::patch).
    /// Returns `false` if no more rows are wanted.
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool;
    /// The new result of statement number `part`: old rows and those just handed over, in the order of `segments`.
    fn patch(&mut self, part: usize, layout: &Arc<ColumnLayout>, segments: &[Segment]);
    /// Completes an emission, made of the patches since the last one. Without patches, the value is as it was
    /// before an error.
    fn emit(&mut self, emission: Emission) -> Delivery;
    /// A run that took long has ended: [`SLOW_MICROS`](resqlite_live::limits::SLOW_MICROS) or more. An emission follows if the
    /// run has found anything new.
    fn ran_long(&mut self, micros: u64, reason: Option<Reason>) {
        let _ = (micros, reason);
    }
    /// The run has no result, because it failed or took too long beside others. Rows and patches since the last emission are
    /// void.
    fn discard(&mut self);
    /// The query failed. `ended`: nothing follows, and rows and patches since the last emission are void.
    fn fail(&mut self, error: &Error, ended: bool) -> Delivery;
}

/// The state of an emission when the listener returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The emission has arrived; the next may follow.
    Taken,
    /// The emission is on its way; [`Subscription::delivered`](super::Subscription::delivered) reports its arrival.
    Pending,
}
