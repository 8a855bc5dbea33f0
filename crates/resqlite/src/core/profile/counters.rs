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
            /// The counts from `before` to these counters; 0 where a [`reset`] between the two made a counter smaller.
            /// The highest values are taken from these counters.
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
        /// Time of the main threads for handing requests over to the native threads, including waking them.
        submit_us,
        /// Time of the main threads for handling replies: decoding, settling promises, calling subscribers; without the
        /// code that waits for the promises.
        completion_handler_us,
        /// Time for calling subscribers; part of `completion_handler_us`.
        stream_emit_us,
        /// Time of the readers for `select`, `selectOne` and `selectBytes`, including waking the main thread.
        reader_request_us,
        /// Time for examining new commits for live queries, and calling workers for the re-runs.
        invalidate_us,
        /// Time for finding the live queries that commits affect; part of `invalidate_us`.
        intersection_us,
        /// Time of the writer for requests, from taking them to the last reply.
        writer_request_us,
        /// Time for `BEGIN IMMEDIATE`, including the check for external changes of the schema. Part of
        /// `writer_request_us`, like the times of the writer below.
        writer_begin_us,
        /// Time for stepping statements, without `writer_dirty_us`.
        writer_sqlite_us,
        /// Time for `COMMIT`.
        writer_commit_us,
        /// Time for savepoints, `ROLLBACK` and `PRAGMA synchronous`.
        writer_control_us,
        /// Time for recording changes: changed rows, the change summary of a commit, the commit log.
        writer_dirty_us,
        /// Time for replying to callers.
        writer_reply_us,
    }
    counts {
        /// Calls that `submit_us` measures: one for all requests of a turn of the event loop.
        submit_count,
        /// Calls that `completion_handler_us` measures, without those that found no replies.
        completion_handler_count,
        /// Replies that were handled: ends of requests, and emissions and errors of live queries.
        completions,
        /// Emissions of live queries.
        stream_emit_count,
        /// Reads that `reader_request_us` measures.
        reader_request_count,
        /// Times that new commits were examined for live queries.
        invalidate_count,
        /// Commits for which affected live queries were looked up.
        intersection_count,
        /// Index entries that were examined for this.
        intersection_entries,
        /// Reads that had to wait for a free reader.
        dispatcher_parked_total,
        /// Times that a worker was called for reads and found none.
        dispatcher_wake_retry_total,
        /// Re-runs that had to wait for a free slot.
        rerun_parked_total,
        /// Times that a worker was called for re-runs and found none.
        rerun_wake_retry_total,
        /// Requests to the writer: writes, and the beginnings and steps of transactions.
        writer_request_count,
        /// Transactions that were begun.
        writer_begin_count,
        /// Runs of statements; in a batch, one per parameter set.
        writer_sqlite_count,
        /// Transactions that were committed.
        writer_commit_count,
        /// Statements that `writer_control_us` measures.
        writer_control_count,
        /// Commits whose changes were recorded.
        writer_dirty_count,
        /// Changed rows that were recorded.
        writer_dirty_rows,
        /// Replies of the writer.
        writer_reply_count,
        /// Rows that were sent to JavaScript.
        rows_decoded,
        /// The values of these rows.
        cells_decoded,
    }
    highest {
        /// Largest number of reads that waited for a free reader.
        dispatcher_max_parked_concurrent,
        /// Largest number of re-runs that waited for a free slot.
        rerun_max_parked_concurrent,
        /// Largest number of requests in the writer's queue.
        writer_queue_max,
        /// Largest number of reads in the readers' queue.
        reader_queue_max,
        /// Largest number of re-runs in their queue.
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
