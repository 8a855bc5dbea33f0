//! The counters.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Declares the counters once: the atomics, [`Counters`], and the functions that go through all
/// counters.
macro_rules! counters {
    (
        times { $($(#[$time_doc:meta])* $time:ident,)* }
        counts { $($(#[$count_doc:meta])* $count:ident,)* }
        highest { $($(#[$high_doc:meta])* $high:ident,)* }
    ) => {
        /// The numbers at one moment, or for the time between two moments ([`since`](Self::since)).
        ///
        /// Fields that end in `_us` are microseconds, measured in nanoseconds and summed up over all threads. Fields that end in `_count`
        /// or `_total` say how often something happened. Fields with `max` in their name are the highest number at any one time.
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$time_doc])* pub $time: f64,)*
            $($(#[$count_doc])* pub $count: u64,)*
            $($(#[$high_doc])* pub $high: u64,)*
        }

        /// The counters as atomics. Times are in nanoseconds.
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

        /// Returns the present counters.
        ///
        /// Each counter is read by itself: work that is counted meanwhile may be in one counter and not yet in another. Engine threads
        /// count a piece of work when they are done with it, which may be after its caller was answered.
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
            /// Returns the counts from `before` to these counters; 0 if a [`reset`] between the two made a counter smaller. The highest
            /// values are taken from these counters.
            #[must_use]
            pub fn since(&self, before: &Self) -> Self {
                Self {
                    $($time: difference(self.$time, before.$time),)*
                    $($count: self.$count.saturating_sub(before.$count),)*
                    $($high: self.$high,)*
                }
            }

            /// Returns all counters with their names, in the order of their declaration.
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
        /// Index entries that were examined to find affected live queries.
        intersection_entries,
        /// Reads that had to wait for a free reader.
        dispatcher_parked_total,
        /// Times that a worker was called for reads and found no reads.
        dispatcher_wake_retry_total,
        /// Re-runs that had to wait for a free slot.
        rerun_parked_total,
        /// Times that a worker was called for re-runs and found no re-runs.
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
        /// The values of the rows that were sent to JavaScript.
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

/// Returns the difference in whole nanoseconds, the unit of both numbers.
fn difference(now: f64, before: f64) -> f64 {
    ((now - before) * 1000.0).round().max(0.0) / 1000.0
}

/// Records, for bindings, the time for handing requests over.
pub fn record_submit(time: Duration) {
    add(&CELLS.submit_us, nanos(time));
    add(&CELLS.submit_count, 1);
}

/// Records, for bindings, the time of the callback that hands replies over.
pub fn record_completion_handler(time: Duration) {
    add(&CELLS.completion_handler_us, nanos(time));
    add(&CELLS.completion_handler_count, 1);
}

/// Records, for bindings, the number of replies that this callback handled.
pub fn record_completions(replies: usize) {
    add(&CELLS.completions, replies as u64);
}

/// Records, for bindings, the time for telling subscribers of a new result.
pub fn record_stream_emit(time: Duration) {
    add(&CELLS.stream_emit_us, nanos(time));
    add(&CELLS.stream_emit_count, 1);
}

/// Records, for bindings, the rows that were handed over, and the number of their columns.
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
