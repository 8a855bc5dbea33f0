//! The request for a live query, and the interface of its listener.

use std::sync::Arc;

use resqlite_live::{Reason, Segment};

use crate::{
    core::{error::Error, params::Params},
    rows::{ColumnLayout, Integers, RowBatch},
};

/// A live query to begin.
#[derive(Debug, Clone)]
pub struct LiveQueryRequest {
    /// Statements with their parameters; all of them are read from one committed state.
    pub queries: Vec<(Arc<str>, Params)>,
    /// How INTEGERs are packed.
    pub integers: Integers,
    /// Of the commits that do not affect the query, the share after which it is audited: it runs all the same, to check
    /// that nothing has changed. From 0 (never) to 1.
    pub verify: f64,
}

/// What an emission is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emission {
    /// The state holds this commit and all before it.
    pub commit: u64,
    /// Why the query ran; `None` for the first time.
    pub reason: Option<Reason>,
    /// How long it ran, in microseconds.
    pub micros: u64,
}

/// Whoever listens to a live query. Called on engine threads, by one at a time; that may be the thread that writes. Must
/// not block for long, but for [`rows`](Self::rows), which may wait for room, and never for a write. It is dropped when it
/// will not be called any more.
pub trait Listener: Send {
    /// Takes rows that the result before did not have, in order. They belong to the next [`patch`](Self::patch).
    /// `false`: nobody listens any more.
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool;
    /// The new result of statement number `part`: old rows and those just handed over, in the order of `runs`.
    fn patch(&mut self, part: usize, layout: &Arc<ColumnLayout>, segments: &[Segment]);
    /// The patches since the last emission make one, which is complete now. Without any, the value is as it was
    /// before an error.
    fn emit(&mut self, emission: Emission) -> Delivery;
    /// The query failed; patches since the last emission are void. `ended`: nothing follows.
    fn fail(&mut self, error: &Error, ended: bool) -> Delivery;
}

/// Where an emission is when the listener has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Whoever it is for has it; the next may come.
    Taken,
    /// It is on its way; [`Subscription::delivered`](super::Subscription::delivered) says when it has arrived.
    Pending,
}
