//! The functions that the engine calls to count, in a profile build.

#![expect(
    clippy::disallowed_methods,
    reason = "it tells what the machine does, not the simulator"
)]

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use super::counters::{CELLS, add, nanos};
pub(crate) use super::record_rows as rows;

thread_local! {
    /// Nanoseconds that this thread has spent on recording changed rows. SQLite calls for this recording while it steps.
    static RECORDED: Cell<u64> = const { Cell::new(0) };
}

/// A piece of work that is being timed.
#[must_use]
pub(crate) struct Timer(Instant);

pub(crate) fn start() -> Timer {
    Timer(Instant::now())
}

impl Timer {
    fn stop(self, time: &AtomicU64) -> u64 {
        let spent = nanos(self.0.elapsed());
        add(time, spent);
        spent
    }

    fn count(self, time: &AtomicU64, count: &AtomicU64, times: u64) {
        self.stop(time);
        add(count, times);
    }
}

pub(crate) fn reader_request(timer: Timer) {
    timer.count(&CELLS.reader_request_us, &CELLS.reader_request_count, 1);
}

pub(crate) fn invalidation(timer: Timer) {
    timer.count(&CELLS.invalidate_us, &CELLS.invalidate_count, 1);
}

pub(crate) fn intersection(timer: Timer, entries: impl FnOnce() -> u64) {
    timer.count(&CELLS.intersection_us, &CELLS.intersection_count, 1);
    add(&CELLS.intersection_entries, entries());
}

pub(crate) fn writer_requests(timer: Timer, requests: usize) {
    timer.count(
        &CELLS.writer_request_us,
        &CELLS.writer_request_count,
        requests as u64,
    );
}

pub(crate) fn writer_begin(timer: Timer) {
    timer.count(&CELLS.writer_begin_us, &CELLS.writer_begin_count, 1);
}

pub(crate) fn writer_commit(timer: Timer) {
    timer.count(&CELLS.writer_commit_us, &CELLS.writer_commit_count, 1);
}

pub(crate) fn writer_control(timer: Timer) {
    timer.count(&CELLS.writer_control_us, &CELLS.writer_control_count, 1);
}

pub(crate) fn writer_reply(timer: Timer) {
    timer.count(&CELLS.writer_reply_us, &CELLS.writer_reply_count, 1);
}

/// Counts a commit whose changes were recorded.
pub(crate) fn writer_dirty(timer: Timer) {
    timer.count(&CELLS.writer_dirty_us, &CELLS.writer_dirty_count, 1);
}

/// Counts a changed row that was recorded inside a step.
pub(crate) fn writer_dirty_row(timer: Timer) {
    let spent = timer.stop(&CELLS.writer_dirty_us);
    add(&CELLS.writer_dirty_rows, 1);
    RECORDED.set(RECORDED.get() + spent);
}

/// A statement that is being stepped.
#[must_use]
pub(crate) struct Stepping {
    began: Instant,
    recorded: u64,
}

pub(crate) fn start_stepping() -> Stepping {
    Stepping {
        recorded: RECORDED.get(),
        began: Instant::now(),
    }
}

pub(crate) fn writer_sqlite(stepping: Stepping) {
    let spent = nanos(stepping.began.elapsed());
    let recording = RECORDED.get() - stepping.recorded;
    add(&CELLS.writer_sqlite_us, spent.saturating_sub(recording));
    add(&CELLS.writer_sqlite_count, 1);
}

/// The counters of a pool of threads, if the pool has any.
#[derive(Clone, Copy)]
pub(crate) struct Dispatcher(Option<&'static DispatcherCells>);

struct DispatcherCells {
    parked_total: &'static AtomicU64,
    wake_retry_total: &'static AtomicU64,
    max_parked: &'static AtomicU64,
    queue_max: &'static AtomicU64,
}

static READERS: DispatcherCells = DispatcherCells {
    parked_total: &CELLS.dispatcher_parked_total,
    wake_retry_total: &CELLS.dispatcher_wake_retry_total,
    max_parked: &CELLS.dispatcher_max_parked_concurrent,
    queue_max: &CELLS.reader_queue_max,
};

static RERUNS: DispatcherCells = DispatcherCells {
    parked_total: &CELLS.rerun_parked_total,
    wake_retry_total: &CELLS.rerun_wake_retry_total,
    max_parked: &CELLS.rerun_max_parked_concurrent,
    queue_max: &CELLS.rerun_queue_max,
};

impl Dispatcher {
    /// Returns a dispatcher that counts nothing.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Returns the counters of the pool for the reads of callers.
    pub(crate) fn readers() -> Self {
        Self(Some(&READERS))
    }

    /// Returns the counters of the pool that runs live queries again.
    pub(crate) fn reruns() -> Self {
        Self(Some(&RERUNS))
    }

    /// Counts a job that was queued. There are now `jobs` jobs for `free` free workers.
    pub(crate) fn queued(self, jobs: usize, free: usize) {
        let Some(cells) = self.0 else { return };
        cells.queue_max.fetch_max(jobs as u64, Relaxed);
        let parked = jobs.saturating_sub(free);
        if parked > 0 {
            add(cells.parked_total, 1);
            cells.max_parked.fetch_max(parked as u64, Relaxed);
        }
    }

    /// Counts a worker that was called and found no job.
    pub(crate) fn came_in_vain(self) {
        if let Some(cells) = self.0 {
            add(cells.wake_retry_total, 1);
        }
    }
}

/// The counter of a queue's length, if it has one.
#[derive(Clone, Copy)]
pub(crate) struct Depth(Option<&'static AtomicU64>);

impl Depth {
    /// Returns a counter that counts nothing.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Returns the counter of the writer's queue.
    pub(crate) fn writer() -> Self {
        Self(Some(&CELLS.writer_queue_max))
    }

    pub(crate) fn reached(self, items: usize) {
        if let Some(cell) = self.0 {
            cell.fetch_max(items as u64, Relaxed);
        }
    }
}
