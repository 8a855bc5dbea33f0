//! One live query.

use std::sync::Arc;

use resqlite_live::{Dependencies, StreamId, TableDependency};

use super::{Listener, stats::Counters};
use crate::{
    reads::Reads,
    request::Query,
    rows::Shape,
    sync::Mutex,
    token::{Scope, Token, TokenSlot},
};

/// One live query: what it asks, and what is known about its last result.
pub(crate) struct Stream {
    pub(super) id: StreamId,
    pub(super) queries: Vec<Query>,
    pub(super) verify: f64,
    /// Ends a run that is under way.
    pub(super) scope: Scope,
    pub(super) counters: Counters,
    /// For the one thread that runs it.
    pub(super) state: Mutex<State>,
}

/// What the thread needs that runs a stream.
pub(super) struct State {
    pub(super) listener: Box<dyn Listener>,
    /// One per query.
    pub(super) parts: Vec<Part>,
    /// It has had a result.
    pub(super) worked: bool,
    /// The error that its listener was told last, if nothing good came since.
    pub(super) error: Option<String>,
    /// The last run gave its listener rows.
    pub(super) handed_over: bool,
}

/// The last result of one query.
#[derive(Default)]
pub(super) struct Part {
    pub(super) fingerprints: Vec<u64>,
    pub(super) shape: Option<Arc<Shape>>,
    pub(super) reads: Option<Arc<Reads>>,
    pub(super) dependencies: Dependencies,
}

impl Stream {
    pub(super) fn new(
        id: StreamId,
        queries: Vec<Query>,
        verify: f64,
        scope: Scope,
        listener: Box<dyn Listener>,
    ) -> Self {
        let parts = queries.iter().map(|_| Part::default()).collect();
        Self {
            id,
            queries,
            verify,
            scope,
            counters: Counters::default(),
            state: Mutex::new(State {
                listener,
                parts,
                worked: false,
                error: None,
                handed_over: false,
            }),
        }
    }
}

/// A token that is cancelled with the scope only.
pub(super) fn token(scope: &Scope) -> Token {
    TokenSlot::default().token(1, scope)
}

/// The columns of which values must be kept for a dependency.
pub(super) fn images(dependency: &TableDependency) -> Vec<u16> {
    let filter = dependency.filter.as_ref();
    filter.map_or_else(Vec::new, |filter| filter.columns().collect())
}
