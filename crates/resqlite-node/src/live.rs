//! The live queries of a realm: what their listeners are told becomes frames, and what JavaScript has consumed is
//! told to them.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use resqlite::{
    Delivery, Emission, Error, Explanation, Listener, Shape, Slice, StreamStats, Subscription,
    TableExplanation,
    live::{Reason, Run},
};
use serde_json::json;

use crate::{
    errors,
    frames::{ReplyHeader, kind, tell},
    outbox::PATIENCE,
    port::Shared,
};

/// Where a run of new rows "starts".
const NEW_ROWS: u32 = u32::MAX;

/// The open live queries of a realm. Only the realm's thread uses it.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<ByRequest>);

/// Each at the number of the request that opened it: these are small, as they are used again.
type ByRequest = Vec<Option<Subscription>>;

impl Subscriptions {
    pub(crate) fn keep(&self, request: u32, subscription: Subscription) {
        // One that had this number is over; it is dropped after the lock is.
        let _ended = self.with(|open| {
            let at = request as usize;
            if at >= open.len() {
                open.resize_with(at + 1, || None);
            }
            open[at].replace(subscription)
        });
    }

    /// The counters of a live query, if it is open.
    pub(crate) fn stats(&self, request: u32) -> Option<StreamStats> {
        self.with(|open| known(open, request).map(Subscription::stats))
    }

    /// Ends a live query, if it is open.
    pub(crate) fn end(&self, request: u32) {
        let _ended = self.with(|open| take(open, request));
    }

    /// JavaScript has consumed what it was given.
    pub(crate) fn consumed(&self, given: &[Given]) {
        if given.is_empty() {
            return;
        }
        let _ended: Vec<_> = self.with(|open| {
            Subscription::all_delivered(given.iter().filter_map(|given| match *given {
                Given::News(request) => known(open, request),
                Given::End(_) => None,
            }));
            let ended = given.iter().filter_map(|given| match *given {
                Given::News(_) => None,
                Given::End(request) => take(open, request),
            });
            ended.collect()
        });
    }

    /// Ends all of them.
    pub(crate) fn end_all(&self) {
        let _ended = self.with(std::mem::take);
    }

    fn with<T>(&self, action: impl FnOnce(&mut ByRequest) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn known(open: &ByRequest, request: u32) -> Option<&Subscription> {
    open.get(request as usize)?.as_ref()
}

fn take(open: &mut ByRequest, request: u32) -> Option<Subscription> {
    open.get_mut(request as usize)?.take()
}

/// Something of a live query that JavaScript was given, until it says that it has consumed it.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    /// An emission or an error.
    News(u32),
    /// The last frame.
    End(u32),
}

impl Given {
    /// What a frame means, if it can be that of a live query.
    pub(crate) fn of(kind: u8, flags: u8, request: u32) -> Option<Self> {
        match kind {
            kind::OK | kind::ERROR if flags & tell::LAST != 0 => Some(Self::End(request)),
            kind::EMIT | kind::ERROR => Some(Self::News(request)),
            _ => None,
        }
    }

    pub(crate) fn request(self) -> u32 {
        match self {
            Self::News(request) | Self::End(request) => request,
        }
    }
}

/// Writes what a live query tells as frames. When it is dropped, the request that opened the query is settled: that
/// is after the last call, so the request's number can be used again.
pub(crate) struct FrameListener {
    shared: Arc<Shared>,
    request: u32,
    /// How long the emission in the making may still wait for the realm to catch up.
    patience: Duration,
    settled: bool,
}

impl FrameListener {
    pub(crate) fn new(shared: Arc<Shared>, request: u32) -> Self {
        Self {
            shared,
            request,
            patience: PATIENCE,
            settled: false,
        }
    }

    fn header(&self, kind: u8, flags: u8, aux: u32) -> ReplyHeader {
        ReplyHeader {
            kind,
            flags,
            request: self.request,
            aux,
        }
    }
}

impl Listener for FrameListener {
    fn rows(&mut self, shape: &Arc<Shape>, slice: &Slice<'_>) -> bool {
        self.shared
            .outbox
            .push_slice(shape, slice, self.request, 0, &mut self.patience)
    }

    fn patch(&mut self, part: usize, shape: &Arc<Shape>, runs: &[Run]) {
        let header = self.header(kind::PATCH, 0, shape.id());
        self.shared.outbox.push_patch(shape, header, patch(part, runs));
    }

    fn emit(&mut self, emission: Emission) -> Delivery {
        self.patience = PATIENCE;
        self.shared
            .outbox
            .push(self.header(kind::EMIT, 0, 0), &numbers(&emission));
        Delivery::Pending
    }

    fn fail(&mut self, error: &Error, ended: bool) -> Delivery {
        self.patience = PATIENCE;
        self.settled |= ended;
        let flags = if ended { tell::LAST } else { 0 };
        let json = errors::to_json(error);
        let header = self.header(kind::ERROR, flags, json.len() as u32);
        self.shared.outbox.push_owned(header, json);
        Delivery::Pending
    }
}

impl Drop for FrameListener {
    fn drop(&mut self) {
        if !self.settled {
            self.shared.outbox.push(self.header(kind::OK, tell::LAST, 0), &[]);
        }
    }
}

/// `u32 part · u32 runs`, then for each run `u32 start · u32 count`.
fn patch(part: usize, runs: &[Run]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(8 + 8 * runs.len());
    let mut word = |value: u32| payload.extend(value.to_le_bytes());
    word(part as u32);
    word(runs.len() as u32);
    for run in runs {
        let (start, count) = match *run {
            Run::Keep { start, count } => (start, count),
            Run::New { count } => (NEW_ROWS, count),
        };
        word(start);
        word(count);
    }
    payload
}

/// `f64 commit · f64 microseconds · u32 reason · u32 0`.
fn numbers(emission: &Emission) -> [u8; 24] {
    let mut out = [0; 24];
    out[..8].copy_from_slice(&(emission.commit as f64).to_le_bytes());
    out[8..16].copy_from_slice(&(emission.micros as f64).to_le_bytes());
    let reason = number_of(emission.reason);
    out[16..20].copy_from_slice(&reason.to_le_bytes());
    out
}

fn number_of(reason: Option<Reason>) -> u32 {
    match reason {
        None => 0,
        Some(Reason::Everything) => 1,
        Some(Reason::Schema) => 2,
        Some(Reason::Table) => 3,
        Some(Reason::Columns) => 4,
        Some(Reason::Rows) => 5,
    }
}

/// What `stats` of a live query gives, as numbers in this order.
pub(crate) fn stats(stats: &StreamStats) -> [f64; STATS] {
    let numbers = [
        stats.commits,
        stats.skipped_by_table,
        stats.skipped_by_column,
        stats.skipped_by_key,
        stats.requeries,
        stats.unchanged,
        stats.emitted,
        stats.coalesced,
        stats.rows_patched,
        stats.errors,
        stats.verified,
        stats.missed,
        number_of(stats.last_reason).into(),
        stats.last_micros,
        stats.total_micros,
        stats.rows,
        stats.volatile.into(),
    ];
    numbers.map(|number| number as f64)
}

/// How many numbers [`stats`] gives.
const STATS: usize = 17;

/// The numbers that can be added up over live queries.
pub(crate) fn sums(stats: &StreamStats) -> serde_json::Value {
    json!({
        "commits": stats.commits,
        "skippedByTable": stats.skipped_by_table,
        "skippedByColumn": stats.skipped_by_column,
        "skippedByKey": stats.skipped_by_key,
        "requeries": stats.requeries,
        "unchanged": stats.unchanged,
        "emitted": stats.emitted,
        "coalesced": stats.coalesced,
        "rowsPatched": stats.rows_patched,
        "errors": stats.errors,
        "verified": stats.verified,
        "missed": stats.missed,
        "totalMicros": stats.total_micros,
    })
}

/// What `explainStream` gives.
pub(crate) fn explanation(explanation: &Explanation) -> Vec<u8> {
    let object = json!({
        "precision": explanation.precision().name(),
        "everything": explanation.everything,
        "tables": explanation.tables.iter().map(table).collect::<Vec<_>>(),
        "volatile": explanation.volatile,
    });
    object.to_string().into_bytes()
}

fn table(table: &TableExplanation) -> serde_json::Value {
    json!({
        "schema": table.schema,
        "table": table.table,
        "columns": table.columns.as_ref().map_or_else(|| json!("all"), |columns| json!(columns)),
        "precision": table.precision.name(),
        "conditions": table.conjuncts,
        "why": table.why,
    })
}
