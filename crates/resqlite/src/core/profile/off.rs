//! The functions that the engine calls to count, in a build without counters. They are empty.

/// A piece of work that would be timed.
#[must_use]
pub(crate) struct Timer;

#[inline(always)]
pub(crate) fn start() -> Timer {
    Timer
}

#[inline(always)]
pub(crate) fn rows(_rows: usize, _columns: usize) {}

#[inline(always)]
pub(crate) fn reader_request(_: Timer) {}

#[inline(always)]
pub(crate) fn invalidation(_: Timer) {}

#[inline(always)]
pub(crate) fn intersection(_: Timer, _entries: impl FnOnce() -> u64) {}

#[inline(always)]
pub(crate) fn writer_requests(_: Timer, _requests: usize) {}

#[inline(always)]
pub(crate) fn writer_begin(_: Timer) {}

#[inline(always)]
pub(crate) fn writer_commit(_: Timer) {}

#[inline(always)]
pub(crate) fn writer_control(_: Timer) {}

#[inline(always)]
pub(crate) fn writer_reply(_: Timer) {}

#[inline(always)]
pub(crate) fn writer_dirty(_: Timer) {}

#[inline(always)]
pub(crate) fn writer_dirty_row(_: Timer) {}

/// A statement that would be timed.
#[must_use]
pub(crate) struct Stepping;

#[inline(always)]
pub(crate) fn start_stepping() -> Stepping {
    Stepping
}

#[inline(always)]
pub(crate) fn writer_sqlite(_: Stepping) {}

/// The counters that a pool of threads would have.
#[derive(Clone, Copy)]
pub(crate) struct Dispatcher;

impl Dispatcher {
    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn readers() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn reruns() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn queued(self, _jobs: usize, _free: usize) {}

    #[inline(always)]
    pub(crate) fn came_in_vain(self) {}
}

/// The counter that a queue would have.
#[derive(Clone, Copy)]
pub(crate) struct Depth;

impl Depth {
    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn writer() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn reached(self, _items: usize) {}
}
