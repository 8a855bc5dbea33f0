//! The counters themselves.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Declares the counters once: the atomics, [`Counters`], and what goes through all of them.
macro_rules! counters {
    (
        times { $($(#[$time_doc:meta])* $time:ident,)* }
        counts { $($(#[$count_doc:meta])* $count:ident,)* }
        highest { $($(#[$high_doc:meta])* $high:ident,)* }
    ) => {
        /// The numbers of a moment, or of the time between two ([`since`](Self::since)).
        ///
        /// Fields that end in `_us` are microseconds, taken in nanoseconds and summed up over all threads. Those that
        /// end in `_count` or `_total` are how often something happened; those with `max` in their name are the most
        /// that ever were at once.
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$time_doc])* pub $time: f64,)*
            $($(#[$count_doc])* pub $count: u64,)*
            $($(#[$high_doc])* pub $high: u64,)*
        }

        /// Times in nanoseconds.
        #[derive(Default)]
        pub(super) struct Cells {
            $(pub(super) $time: AtomicU64,)*
            $(pub(super) $count: AtomicU64,)*
            $(pub(super) $high: AtomicU64,)*
        }

        pub(super) static CELLS: Cells = Cells {
            $($time: AtomicU64::new(0),)*
            $($count: AtomicU64::new(0),)*
            $($high: AtomicU64::new(0),)*
        };

        /// The counters now.
        ///
        /// Each is read by itself: what is being counted meanwhile may be in one and not yet in another. Engine
        /// threads count a piece of work when they are done with it, which may be after its caller was answered.
        pub fn snapshot() -> Counters {
            Counters {
                $($time: micros(CELLS.$time.load(Relaxed)),)*
                $($count: CELLS.$count.load(Relaxed),)*
                $($high: CELLS.$high.load(Relaxed),)*
            }
        }

        /// Sets all counters to 0.
        pub fn reset() {
            $(CELLS.$time.store(0, Relaxed);)*
            $(CELLS.$count.store(0, Relaxed);)*
            $(CELLS.$high.store(0, Relaxed);)*
        }

        impl Counters {
            /// What was counted from `before` to here; 0 where that is less, because of a [`reset`] between the two.
            /// The highest values are those of here.
            #[must_use]
            pub fn since(&self, before: &Self) -> Self {
                Self {
                    $($time: difference(self.$time, before.$time),)*
                    $($count: self.$count.saturating_sub(before.$count),)*
                    $($high: self.$high,)*
                }
            }

            /// All counters with their names, in the order of their declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
                [
                    $((stringify!($time), self.$time),)*
                    $((stringify!($count), self.$count as f64),)*
                    $((stringify!($high), self.$high as f64),)*
                ]
                .into_iter()
            }
        }
    };
}

counters! {
    times {
        /// A realm's main thread in handing requests over, waking engine threads included. Counted by the binding.
        submit_us,
        /// A realm's main thread in the callback that hands replies over: decoding, settling promises, subscribers of
        /// live queries. Not what waits for the promises. Counted by the binding.
        completion_handler_us,
        /// Telling subscribers of a new result; part of `completion_handler_us`. Counted by the binding.
        stream_emit_us,
        /// Readers with `select`, `selectOne` and `selectBytes`: looking the statement up, stepping, packing, and waking who waits.
        reader_request_us,
        /// Looking through new commits on behalf of the live queries and calling readers for those that are concerned.
        invalidate_us,
        /// Looking up whom commits concern; part of `invalidate_us`.
        intersection_us,
        /// The writer thread with requests, from taking them to the last answer. Not: waiting for the next step of a
        /// transaction, live queries, checkpoints.
        writer_request_us,
        /// `BEGIN IMMEDIATE`, other processes' locks included, and the look whether they changed the schema; part of
        /// `writer_request_us`, like all that follow.
        writer_begin_us,
        /// Stepping statements, without `writer_dirty_us`.
        writer_sqlite_us,
        /// `COMMIT`.
        writer_commit_us,
        /// Savepoints, `ROLLBACK`, `PRAGMA synchronous`.
        writer_control_us,
        /// Recording what changes: decoding changed rows, the summary of a commit, the commit log.
        writer_dirty_us,
        /// Answering: packing the answer for its caller and waking it.
        writer_reply_us,
    }
    counts {
        /// Calls behind `submit_us`: one for all requests of a turn.
        submit_count,
        /// Calls of the callback behind `completion_handler_us`: wake-ups, and further turns of the event loop where
        /// one was not enough.
        completion_handler_count,
        /// Replies handled in them: requests that ended, and emissions and errors of live queries.
        completions,
        /// New results that subscribers were told.
        stream_emit_count,
        /// Reads behind `reader_request_us`.
        reader_request_count,
        /// How often the live queries caught up with new commits.
        invalidate_count,
        /// Commits that were looked up.
        intersection_count,
        /// Entries of the registry's indexes that were looked at.
        intersection_entries,
        /// Reads that found no free reader and had to wait, if only for one that had answered and was on its way back.
        dispatcher_parked_total,
        /// Times that a reader was woken, found nothing to do, and slept again.
        dispatcher_wake_retry_total,
        /// Calls for a run of live queries that found no free thread and had to wait.
        rerun_parked_total,
        /// Times that a thread of the live queries was woken, found nothing to do, and slept again; also if it was
        /// only told when to look again.
        rerun_wake_retry_total,
        /// Requests: writes, the steps of transactions, and their beginnings.
        writer_request_count,
        /// Transactions begun.
        writer_begin_count,
        /// Runs of statements; of a batch, one per set of parameters.
        writer_sqlite_count,
        /// Transactions committed.
        writer_commit_count,
        /// Statements behind `writer_control_us`.
        writer_control_count,
        /// Commits whose changes were recorded.
        writer_dirty_count,
        /// Changed rows that were recorded.
        writer_dirty_rows,
        /// Answers. Those of reads inside transactions are not among them.
        writer_reply_count,
        /// Rows handed over: to JavaScript, or into a [`Rows`](crate::Rows).
        rows_decoded,
        /// The cells of these rows.
        cells_decoded,
    }
    highest {
        /// Reads that waited for a free reader at once.
        dispatcher_max_parked_concurrent,
        /// Calls for runs of live queries that waited for a free thread at once.
        rerun_max_parked_concurrent,
        /// Requests in the writer's queue.
        writer_queue_max,
        /// Reads in the readers' queue, those included that a free reader is about to take.
        reader_queue_max,
        /// Calls for runs of live queries in their threads' queue, with those that a free one is about to take.
        rerun_queue_max,
    }
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1000.0
}

/// In whole nanoseconds, as both are.
fn difference(now: f64, before: f64) -> f64 {
    ((now - before) * 1000.0).round().max(0.0) / 1000.0
}

/// For bindings: handing requests over took so long.
pub fn record_submit(time: Duration) {
    add(&CELLS.submit_us, nanos(time));
    add(&CELLS.submit_count, 1);
}

/// For bindings: the callback that hands replies over took so long.
pub fn record_completion_handler(time: Duration) {
    add(&CELLS.completion_handler_us, nanos(time));
    add(&CELLS.completion_handler_count, 1);
}

/// For bindings: so many replies were handled in it.
pub fn record_completions(replies: usize) {
    add(&CELLS.completions, replies as u64);
}

/// For bindings: telling subscribers of a new result took so long.
pub fn record_stream_emit(time: Duration) {
    add(&CELLS.stream_emit_us, nanos(time));
    add(&CELLS.stream_emit_count, 1);
}

/// For bindings: rows of so many columns were handed over.
pub fn record_rows(rows: usize, columns: usize) {
    add(&CELLS.rows_decoded, rows as u64);
    add(&CELLS.cells_decoded, (rows * columns) as u64);
}

pub(super) fn add(cell: &AtomicU64, value: u64) {
    cell.fetch_add(value, Relaxed);
}

pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
