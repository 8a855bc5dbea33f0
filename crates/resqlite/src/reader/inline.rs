//! Quick queries on the threads of their callers, which must not be blocked.
//!
//! ```text
//! caller                              the slot                         a worker
//!
//! takes the connection, or gives up ◄── connection, held read ──►  opens it, prepares what is wanted,
//! runs, puts it back                                               releases the read now and then
//! ```
//!
//! The connection is lent: a caller has it while one query runs, and a caller who finds the slot locked uses a worker as usual.
//! Workers do everything that may wait. The held read saves each query the calls that lock the log: as long as the header of
//! the log is the same, nobody has committed since it began.

use std::{
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use lru::LruCache;
use resqlite_sqlite::{LogHeader, LogState, Parcel, is_possible_at_once, limit, log_pages};

use super::reading::{Reader, Shared};
use crate::{
    connection::{
        inline::{GivenUp, InlineQuery, InlineRows},
        open::set_pragma,
    },
    core::{
        clock,
        error::Result,
        limits,
        sync::{Condvar, Mutex, lock, try_lock, wait, wait_for},
        workers::{Class, Task, Timed, Turn, Workers},
    },
};

/// The connection for queries on the threads of their callers.
pub(crate) struct Inline {
    shared: Arc<Shared>,
    workers: Arc<Workers>,
    slot: Mutex<Slot>,
    /// Signalled when no worker has the connection any more.
    put_back: Condvar,
    counts: Counts,
}

#[derive(Default)]
struct Slot {
    /// `None` while a worker has it, and before it is opened.
    connection: Option<Parcel<Lent>>,
    /// Statements that are to be prepared.
    wanted: Vec<Arc<str>>,
    /// A worker is on its way.
    is_called: bool,
    /// A worker has the connection.
    is_at_work: bool,
    /// The number of times that the connection was closed.
    closings: u64,
    /// A timer releases the read, as long as the connection is used.
    is_timed: bool,
    /// The connection was used since the last look.
    is_used: bool,
    /// The time of the last look that found the connection used.
    used: Option<Instant>,
    /// There can be no connection, or no longer one.
    is_over: bool,
}

/// The most unfit statements that are remembered.
const UNFIT_KEPT: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// A connection that is lent.
pub(super) struct Lent {
    reader: Reader,
    header: LogHeader,
    /// The state of the log when the read that this connection holds began; `None` if it holds none.
    at: Option<LogState>,
    /// The state of which the cache has pages, if it is known.
    cached: Option<LogState>,
    /// The version of the schema for which its statements were prepared.
    schema: i64,
    /// Bytes of the longest value that a schema may have.
    value_bytes: i32,
    /// Statements that are not fit, as far as they are remembered.
    unfit: LruCache<Arc<str>, ()>,
}

/// Queries that were tried on the threads of their callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineCounts {
    /// Queries that ran there.
    pub run: u64,
    /// Queries that did not run there, by the reason.
    pub given_up: [(GivenUp, u64); GivenUp::ALL.len()],
    /// The longest time for which a thread was held, by a query that ran or by one that was given up.
    pub longest: Duration,
}

#[derive(Default)]
struct Counts {
    run: AtomicU64,
    given_up: [AtomicU64; GivenUp::ALL.len()],
    /// In nanoseconds.
    longest: AtomicU64,
}

/// Returns whether the options let queries run on the threads of their callers.
fn is_allowed(shared: &Shared) -> bool {
    let settings = &shared.settings;
    // With these, it is not known how long functions and collations take.
    let is_extended = !settings.extensions.is_empty() || !settings.functions.is_empty();
    // A page of a mapped file may have to be read from the disk.
    settings.inline && !is_extended && !settings.sets("mmap_size")
}

impl Inline {
    pub(super) fn new(shared: Arc<Shared>, workers: Arc<Workers>) -> Arc<Self> {
        let slot = Slot {
            is_over: !is_allowed(&shared),
            ..Slot::default()
        };
        Arc::new(Self {
            shared,
            workers,
            slot: Mutex::new(slot),
            put_back: Condvar::new(),
            counts: Counts::default(),
        })
    }

    /// Returns `false` if there can never be a connection for such queries.
    pub(crate) fn is_possible(&self) -> bool {
        try_lock(&self.slot).is_none_or(|slot| !slot.is_over)
    }

    /// Runs a query now, on this thread, or not at all. `take` gets its result, and may refuse it.
    ///
    /// # Errors
    /// The reason for which it did not run.
    pub(crate) fn select(
        self: &Arc<Self>,
        query: &InlineQuery<'_>,
        take: impl FnOnce(InlineRows<'_>) -> bool,
    ) -> std::result::Result<(), GivenUp> {
        let began = clock::now();
        let done = self.try_to_select(query, began + limits::INLINE_TIME, take);
        let time = clock::since(began).as_nanos() as u64;
        self.counts.longest.fetch_max(time, Relaxed);
        let count = match done {
            Ok(()) => &self.counts.run,
            Err(reason) => &self.counts.given_up[reason as usize],
        };
        count.fetch_add(1, Relaxed);
        done
    }

    fn try_to_select(
        self: &Arc<Self>,
        query: &InlineQuery<'_>,
        end: Instant,
        take: impl FnOnce(InlineRows<'_>) -> bool,
    ) -> std::result::Result<(), GivenUp> {
        let slot = &mut *try_lock(&self.slot).ok_or(GivenUp::NoConnection)?;
        let done = match &mut slot.connection {
            Some(lent) => {
                let done = catch_unwind(AssertUnwindSafe(|| lent.select(query, end, take)));
                done.unwrap_or_else(|_| {
                    slot.connection = None;
                    Err(GivenUp::Error)
                })
            }
            None if slot.is_over || slot.is_at_work => return Err(GivenUp::NoConnection),
            None => Err(GivenUp::NotPrepared),
        };
        slot.is_used |= slot.connection.is_some();
        if slot.connection.is_some() && !std::mem::replace(&mut slot.is_timed, true) {
            self.look_later();
        }
        let calls = match done {
            Err(GivenUp::NotPrepared) => {
                if slot.wanted.len() < limits::INLINE_WANTED && !slot.wanted.contains(query.sql) {
                    slot.wanted.push(Arc::clone(query.sql));
                }
                true
            }
            Err(GivenUp::Schema | GivenUp::Behind) => true,
            _ => false,
        };
        if calls && !std::mem::replace(&mut slot.is_called, true) {
            self.workers.ready(Arc::clone(self) as _);
        }
        done
    }

    /// Runs `work` while nobody reads on the connection; `None` if a worker has the connection for longer than `time`.
    pub(crate) fn in_pause<R>(&self, time: Duration, work: impl FnOnce() -> R) -> Option<R> {
        let end = clock::now() + time;
        let mut slot = lock(&self.slot);
        while slot.is_at_work {
            let left = end.saturating_duration_since(clock::now());
            if left.is_zero() {
                return None;
            }
            slot = wait_for(&self.put_back, slot, left);
        }
        slot.connection.iter_mut().for_each(|lent| lent.release());
        Some(work())
    }

    /// Closes the connection, and waits until it is closed. The next query that is tried opens another.
    pub(super) fn close(&self) {
        let mut slot = lock(&self.slot);
        slot.closings += 1;
        slot.is_called = false;
        slot.wanted.clear();
        drop(slot.connection.take());
        while slot.is_at_work {
            slot = wait(&self.put_back, slot);
        }
    }

    /// Closes the connection for ever.
    pub(crate) fn end(&self) {
        lock(&self.slot).is_over = true;
        self.close();
    }

    /// Returns whether the connection was not used in this time.
    pub(super) fn is_unused_for(&self, time: Duration) -> bool {
        let slot = lock(&self.slot);
        !slot.is_used && !slot.is_called && slot.used.is_none_or(|used| clock::since(used) >= time)
    }

    /// Returns how many queries have run, and how many were given up.
    pub(crate) fn counts(&self) -> InlineCounts {
        InlineCounts {
            run: self.counts.run.load(Relaxed),
            given_up: GivenUp::ALL
                .map(|reason| (reason, self.counts.given_up[reason as usize].load(Relaxed))),
            longest: Duration::from_nanos(self.counts.longest.load(Relaxed)),
        }
    }
}

impl Lent {
    /// Opens a connection; `None` if the database has no log that others can look at, or its file system may wait.
    fn open(shared: &Arc<Shared>) -> Result<Option<Self>> {
        if !shared.location.identity().is_some_and(is_possible_at_once) {
            return Ok(None);
        }
        let mut reader = Reader::open(shared)?;
        let connection = &mut reader.connection;
        connection
            .guard
            .set_interval(&connection.sqlite, limits::INLINE_OPERATIONS);
        let value_bytes = connection
            .sqlite
            .set_limit(limit::LENGTH, limits::INLINE_VALUE_BYTES);
        if !shared.settings.sets("cache_size") {
            let kib = format!("-{}", limits::INLINE_CACHE_KIB);
            connection.as_internal(|sqlite| set_pragma(sqlite, "cache_size", &kib))?;
        }
        let header = connection.as_internal(resqlite_sqlite::Connection::log_header);
        Ok(header.map(|header| Self {
            reader,
            header,
            at: None,
            cached: None,
            schema: 0,
            value_bytes,
            unfit: LruCache::new(UNFIT_KEPT),
        }))
    }

    fn release(&mut self) {
        self.at = None;
        self.reader.connection.release_read();
    }

    /// Holds a read of the newest state. Returns the version of its schema.
    fn hold(&mut self) -> Result<i64> {
        self.release();
        let before = self.header.read();
        let version = self.reader.connection.hold_read()?;
        // If somebody has committed meanwhile, it is not known which state this is.
        self.at = before.filter(|before| self.header.read() == Some(*before));
        self.cached = self.at;
        Ok(version)
    }

    fn select(
        &mut self,
        query: &InlineQuery<'_>,
        end: Instant,
        take: impl FnOnce(InlineRows<'_>) -> bool,
    ) -> std::result::Result<(), GivenUp> {
        let shared = self.reader.shared();
        if !self.reader.is_current() {
            return Err(GivenUp::Schema);
        }
        if self.reader.spans_databases() || shared.location.health.check().is_err() {
            return Err(GivenUp::NoConnection);
        }
        let interrupt = Rc::clone(&self.reader.connection.guard.interrupt);
        let done = interrupt.at_once(end, || self.select_at_once(query, take));
        if done == Err(GivenUp::NotPrepared) && self.unfit.contains(query.sql) {
            return Err(GivenUp::Unfit);
        }
        let may_be_over = matches!(done, Err(GivenUp::Disk | GivenUp::Lock | GivenUp::Error));
        // Another program that writes can start a long log anew only while nobody reads.
        let log_is_long = self
            .at
            .as_ref()
            .is_some_and(|at| log_pages(at) > limits::WAL_CHECKPOINT_PAGES);
        if may_be_over || log_is_long {
            self.release();
        }
        done
    }

    fn select_at_once(
        &mut self,
        query: &InlineQuery<'_>,
        take: impl FnOnce(InlineRows<'_>) -> bool,
    ) -> std::result::Result<(), GivenUp> {
        // Loaded first, so that the state of the log that is looked at includes it.
        let commit = self.reader.shared().commits.last_id();
        let now = self.header.read();
        if self.at.is_none() || self.at != now {
            // If the state has changed, SQLite frees all pages of its cache, without a look at the clock.
            let has_much = self.reader.connection.sqlite.cache_bytes() > limits::INLINE_CACHE_FREED;
            if has_much && (self.cached.is_none() || self.cached != now) {
                return Err(GivenUp::Behind);
            }
            self.hold_at_once()?;
        }
        self.reader.connection.select_inline(query, commit, take)
    }

    fn hold_at_once(&mut self) -> std::result::Result<(), GivenUp> {
        let reason = match self.hold() {
            Ok(version) if version != self.schema => GivenUp::Schema,
            Ok(_) if self.at.is_none() => GivenUp::Lock,
            Ok(_) => return Ok(()),
            Err(error) => GivenUp::of(&error),
        };
        self.release();
        Err(reason)
    }

    /// Learns what names mean now, and prepares statements.
    fn get_ready(&mut self, wanted: &[Arc<str>]) -> Result<()> {
        self.bound_values(self.value_bytes);
        let ready = self.try_to_get_ready(wanted);
        self.bound_values(limits::INLINE_VALUE_BYTES);
        ready
    }

    fn bound_values(&self, bytes: i32) {
        self.reader.connection.sqlite.set_limit(limit::LENGTH, bytes);
    }

    fn try_to_get_ready(&mut self, wanted: &[Arc<str>]) -> Result<()> {
        self.release();
        if !self.reader.is_current() {
            self.reader.reading().follow_schemas()?;
            self.reader.connection.clear();
        }
        let version = self.hold()?;
        if version != self.schema {
            self.reader.connection.clear();
            self.unfit.clear();
            self.schema = version;
        }
        // SQLite checks only here whether it knows the present schema.
        self.reader.reading().read_schemas()?;
        for sql in wanted {
            if !self.reader.connection.prepare_inline(sql) {
                self.unfit.push(Arc::clone(sql), ());
            }
        }
        Ok(())
    }
}

/// The task opens the connection, and prepares what is wanted. Only it has the connection meanwhile.
impl Task for Inline {
    fn class(&self) -> Class {
        Class::Upkeep
    }

    fn turn(self: Arc<Self>, _: &Turn<'_>) {
        let mut slot = lock(&self.slot);
        let was_called = std::mem::replace(&mut slot.is_called, false);
        if slot.is_over || !was_called {
            return;
        }
        slot.is_at_work = true;
        let (lent, wanted, closings) = (
            slot.connection.take(),
            std::mem::take(&mut slot.wanted),
            slot.closings,
        );
        drop(slot);
        let ready = catch_unwind(AssertUnwindSafe(|| self.get_ready(lent, &wanted)));
        let mut slot = lock(&self.slot);
        // A connection that could not be opened is opened when the next query is tried.
        if let Ok(Ok(ready)) = ready {
            slot.is_over |= ready.is_none();
            slot.connection = ready.filter(|_| slot.closings == closings);
        }
        slot.is_at_work = false;
        self.put_back.notify_all();
        let times = slot.connection.is_some() && !std::mem::replace(&mut slot.is_timed, true);
        drop(slot);
        if times {
            self.look_later();
        }
    }

    fn unserved(self: Arc<Self>) {
        lock(&self.slot).is_called = false;
    }
}

impl Inline {
    /// Returns `None` if the database can have no such connection.
    fn get_ready(&self, lent: Option<Parcel<Lent>>, wanted: &[Arc<str>]) -> Result<Option<Parcel<Lent>>> {
        let mut lent = match lent {
            Some(lent) => lent,
            None => match Lent::open(&self.shared)? {
                Some(lent) => Parcel::new(lent),
                None => return Ok(None),
            },
        };
        lent.get_ready(wanted)?;
        Ok(Some(lent))
    }

    fn look_later(self: &Arc<Self>) {
        self.workers.at(clock::now() + limits::INLINE_READ, self);
    }
}

/// Releases the read now and then, so that nobody who needs the log alone waits for long.
impl Timed for Inline {
    fn is_due(self: Arc<Self>) {
        if let Some(mut slot) = try_lock(&self.slot) {
            slot.connection.iter_mut().for_each(|lent| lent.release());
            slot.is_timed = std::mem::take(&mut slot.is_used);
            if !slot.is_timed {
                return;
            }
            slot.used = Some(clock::now());
        }
        self.look_later();
    }
}
