//! The early end of a running statement: its caller gave up, its session ended, its time or its budget is used up.
//!
//! SQLite asks in two places whether a statement may go on: the progress handler, after some steps of its virtual machine, and
//! the busy handler, while another process holds a lock.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::{Duration, Instant},
};

use resqlite_sqlite::at_once;

use super::budget::Budget;
use crate::{
    core::{
        clock,
        error::{Error, Result},
        limits,
        spin::BusyThread,
        token::{Scope, Token},
    },
    requests::{
        holders::LockWaits,
        request::{Query, QueryLimits},
    },
};

/// The state of a connection's progress handler and busy handler.
pub(crate) struct Interrupt {
    running: RefCell<Option<Running>>,
    deadline: Cell<Option<Instant>>,
    /// See [`RunLimit::others_wait`].
    others_wait: Cell<bool>,
    /// The transaction, snapshot or cursor that has the connection.
    session: RefCell<Option<Scope>>,
    /// The budget of the request, if it has limits.
    budget: RefCell<Option<Budget>>,
    /// The limit that the request has exceeded.
    exceeded: Cell<Option<Error>>,
    busy_timeout: Duration,
    /// The time at which the connection began to wait for the lock of another process, if it waits.
    busy_since: Cell<Option<Instant>>,
    /// The requests that wait for a lock together. The wait ends as soon as one of them is cancelled.
    waiting: RefCell<Vec<Token>>,
    /// The statement that would wait for a lock.
    wants_lock: RefCell<Option<Arc<str>>>,
    /// The receiver of reports about waits for locks.
    lock_waits: RefCell<Arc<LockWaits>>,
    /// The beginning of a wait has been reported, but not its end.
    waits: Cell<bool>,
    /// The busy handler gives up at once.
    impatient: Cell<bool>,
}

/// The limit of one run of a live query.
#[derive(Clone, Copy, Default)]
pub(crate) struct RunLimit {
    /// The time at which the run is given up.
    pub(crate) end: Option<Instant>,
    /// Other runs wait for the thread, so this run is also given up when it has more new rows than are handed over at once.
    pub(crate) others_wait: bool,
}

/// The request that is being run.
struct Running {
    token: Token,
    _busy: BusyThread,
}

impl Interrupt {
    pub(super) fn new(busy_timeout: Duration) -> Self {
        Self {
            running: RefCell::new(None),
            deadline: Cell::new(None),
            others_wait: Cell::new(false),
            session: RefCell::new(None),
            budget: RefCell::new(None),
            exceeded: Cell::new(None),
            busy_timeout,
            busy_since: Cell::new(None),
            waiting: RefCell::default(),
            wants_lock: RefCell::default(),
            lock_waits: RefCell::default(),
            waits: Cell::new(false),
            impatient: Cell::new(false),
        }
    }

    /// Begins a request: cancelling its token interrupts statements, and its busy timeout starts.
    pub(crate) fn start(&self, token: &Token) {
        let _busy = BusyThread::begin();
        *self.running.borrow_mut() = Some(Running {
            token: token.clone(),
            _busy,
        });
        self.reset_busy_timer();
    }

    /// Begins a query, which may have limits.
    pub(crate) fn start_query(&self, query: &Query) {
        self.start_within(query.limits.as_deref(), &query.token);
    }

    /// Begins a request that may have limits.
    pub(crate) fn start_within(&self, limits: Option<&QueryLimits>, token: &Token) {
        *self.budget.borrow_mut() = limits.cloned().map(Budget::new);
        self.exceeded.set(None);
        self.start(token);
    }

    /// Ends the request.
    pub(crate) fn stop(&self) {
        self.has_lock();
        *self.running.borrow_mut() = None;
    }

    /// Ends the limits of the query.
    pub(crate) fn end_query(&self) {
        *self.budget.borrow_mut() = None;
    }

    /// Pauses a query that waits for its caller, and returns what is left of its limits. The wait does not count towards the
    /// limits.
    pub(crate) fn pause(&self) -> Option<Budget> {
        self.stop();
        let mut budget = self.budget.borrow_mut().take();
        if let Some(budget) = &mut budget {
            budget.pause();
        }
        budget
    }

    /// Resumes a paused query.
    pub(crate) fn resume(&self, token: &Token, mut budget: Option<Budget>) {
        if let Some(budget) = &mut budget {
            budget.resume();
        }
        *self.budget.borrow_mut() = budget;
        self.exceeded.set(None);
        self.start(token);
    }

    /// Counts bytes of a result that are about to be handed over.
    ///
    /// # Errors
    /// [`Error::Limit`] if the query may not return so many bytes, or has run too long.
    pub(crate) fn spend_bytes(&self, bytes: usize) -> Result<()> {
        match &mut *self.budget.borrow_mut() {
            Some(budget) => budget.check_time().and_then(|()| budget.spend_bytes(bytes)),
            None => Ok(()),
        }
    }

    /// Returns whether the work of the connection was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.request_is_cancelled() || self.one_gave_up()
    }

    /// Restarts the busy timeout, however long earlier locks took.
    pub(crate) fn reset_busy_timer(&self) {
        self.busy_since.set(None);
    }

    /// Lets these requests wait for locks together, until one of them is cancelled. `sql`: the first statement.
    pub(crate) fn start_waiting(&self, tokens: Vec<Token>, sql: Option<Arc<str>>) {
        *self.waiting.borrow_mut() = tokens;
        *self.wants_lock.borrow_mut() = sql;
    }

    /// Ends what [`start_waiting`](Self::start_waiting) began.
    pub(crate) fn stop_waiting(&self) {
        self.has_lock();
        self.waiting.borrow_mut().clear();
        *self.wants_lock.borrow_mut() = None;
    }

    /// Reports waits for locks to `lock_waits` from now on.
    pub(crate) fn tell_waits(&self, lock_waits: &Arc<LockWaits>) {
        *self.lock_waits.borrow_mut() = Arc::clone(lock_waits);
    }

    /// Notes that nothing waits for a lock, or no longer does. SQLite does not report the end of a wait, but goes on after it.
    pub(crate) fn has_lock(&self) {
        if self.waits.replace(false) {
            self.lock_waits.borrow().ends();
        }
    }

    /// Returns an error if the work of the connection was cancelled or took too long.
    pub(crate) fn check(&self) -> Result<()> {
        match () {
            () if self.is_late() => Err(Error::TimedOut),
            () if self.request_is_cancelled() => Err(Error::Aborted),
            () => Ok(()),
        }
    }

    /// Interrupts statements from this time on.
    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
    }

    /// Does `work` until `end`, and within the deadline that is set; `None` if `end` interrupts it.
    pub(crate) fn until<R>(&self, end: Instant, work: impl FnOnce() -> Result<R>) -> Result<Option<R>> {
        let before = self.deadline.get();
        self.deadline
            .set(Some(before.map_or(end, |before| before.min(end))));
        let done = work();
        let is_late = clock::now() >= end;
        self.deadline.set(before);
        match done {
            Err(error) if is_late && error.is_interrupt() => Ok(None),
            done => done.map(Some),
        }
    }

    /// Limits a run of a live query.
    pub(crate) fn set_run_limit(&self, limit: RunLimit) {
        self.set_deadline(limit.end);
        self.others_wait.set(limit.others_wait);
    }

    /// Returns the time by which work that is not part of the result must end. Such work may take at most `most`. Unless other
    /// runs wait, it may take no more than half of the time that the run has left.
    pub(crate) fn end_of_extra(&self, most: Duration) -> Instant {
        let (now, end) = (clock::now(), self.deadline.get());
        let left = end
            .filter(|_| !self.others_wait())
            .map(|end| end.saturating_duration_since(now) / 2);
        now + left.map_or(most, |left| left.min(most))
    }

    /// Returns whether a run of a live query can be given up.
    pub(crate) fn has_deadline(&self) -> bool {
        self.deadline.get().is_some()
    }

    /// See [`RunLimit::others_wait`].
    pub(crate) fn others_wait(&self) -> bool {
        self.others_wait.get()
    }

    /// Sets the session that has the connection. Cancelling it interrupts statements.
    pub(crate) fn set_session(&self, session: Option<Scope>) {
        *self.session.borrow_mut() = session;
    }

    /// Runs `work`, which does not wait for locks.
    pub(crate) fn without_waiting<R>(&self, work: impl FnOnce() -> R) -> R {
        self.impatient.set(true);
        let result = work();
        self.impatient.set(false);
        result
    }

    /// Runs `work`, which waits for no lock and no disk, and whose statements are interrupted at `end`.
    pub(crate) fn at_once<R>(&self, end: Instant, work: impl FnOnce() -> R) -> R {
        self.set_deadline(Some(end));
        let result = self.without_waiting(|| at_once(limits::INLINE_READS, work));
        self.set_deadline(None);
        result
    }

    pub(super) fn take_exceeded(&self) -> Option<Error> {
        self.exceeded.take()
    }

    /// Returns whether the deadline has passed.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.get().is_some_and(|end| clock::now() >= end)
    }

    /// The progress handler: returns whether the statement may run on.
    pub(super) fn may_continue(&self) -> bool {
        self.has_lock();
        !(self.request_is_cancelled() || self.is_exhausted(Budget::spend_steps))
    }

    /// The busy handler: sleeps, and returns whether SQLite should try again. The pauses grow like those of SQLite's own
    /// handler, but the wait also ends when the caller gives up.
    pub(super) fn wait_for_lock(&self, attempt: u32) -> bool {
        let now = clock::now();
        let since = self.busy_since.get().unwrap_or(now);
        self.busy_since.set(Some(since));
        let left = self.busy_timeout.saturating_sub(now - since);
        let gives_up = self.request_is_cancelled() || self.one_gave_up() || self.is_exhausted(|_| Ok(()));
        if left.is_zero() || self.impatient.get() || gives_up {
            self.has_lock();
            return false;
        }
        if !self.waits.replace(true) {
            self.lock_waits.borrow().begins(self.wants_lock.borrow().as_ref());
        }
        let pause = Duration::from_micros(100 << attempt.min(10));
        clock::sleep(pause.min(limits::BUSY_PAUSE_MAX).min(left));
        true
    }

    fn request_is_cancelled(&self) -> bool {
        let cancelled = self
            .running
            .borrow()
            .as_ref()
            .is_some_and(|running| running.token.is_cancelled());
        let ended = self.session.borrow().as_ref().is_some_and(Scope::is_cancelled);
        cancelled || ended || self.is_late()
    }

    fn one_gave_up(&self) -> bool {
        self.waiting.borrow().iter().any(Token::is_cancelled)
    }

    /// Returns whether the request has exceeded one of its limits: the limit of time, or the limit that `spend` checks.
    fn is_exhausted(&self, spend: impl FnOnce(&mut Budget) -> Result<()>) -> bool {
        let mut budget = self.budget.borrow_mut();
        let Some(budget) = &mut *budget else {
            return false;
        };
        let spent = budget.check_time().and_then(|()| spend(budget));
        spent.is_err_and(|error| {
            self.exceeded.set(Some(error));
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use resqlite_sqlite::codes;

    use super::Interrupt;
    use crate::core::error::{Error, Result};

    const LATER: Duration = Duration::from_secs(3600);

    fn fails_with(code: i32) -> Result<i32> {
        Err(Error::Sqlite(resqlite_sqlite::Error::new(code, "stopped")))
    }

    /// The result of work that has this deadline and this limit, and fails with this code.
    fn failed(deadline: Option<Instant>, limit: Duration, code: i32) -> Result<Option<i32>> {
        let interrupt = Interrupt::new(Duration::ZERO);
        interrupt.set_deadline(deadline);
        let done = interrupt.until(Instant::now() + limit, || fails_with(code));
        assert_eq!(interrupt.deadline.get(), deadline);
        done
    }

    #[test]
    fn work_that_its_end_interrupts_comes_to_nothing() {
        assert_eq!(failed(None, Duration::ZERO, codes::INTERRUPT).unwrap(), None);
        let later = Some(Instant::now() + LATER);
        assert_eq!(failed(later, Duration::ZERO, codes::INTERRUPT).unwrap(), None);
    }

    #[test]
    fn what_else_ends_it_is_an_error() {
        assert!(
            failed(None, LATER, codes::INTERRUPT).is_err(),
            "its caller gave up"
        );
        assert!(failed(None, Duration::ZERO, codes::CORRUPT).is_err());
        assert!(failed(Some(Instant::now()), LATER, codes::INTERRUPT).is_err());
    }

    #[test]
    fn the_earlier_of_end_and_deadline_holds() {
        let interrupt = Interrupt::new(Duration::ZERO);
        let is_late = || Ok(interrupt.is_late());
        let later = Instant::now() + LATER;
        assert_eq!(interrupt.until(Instant::now(), is_late).unwrap(), Some(true));
        interrupt.set_deadline(Some(Instant::now()));
        assert_eq!(interrupt.until(later, is_late).unwrap(), Some(true));
        interrupt.set_deadline(None);
        assert_eq!(interrupt.until(later, is_late).unwrap(), Some(false));
    }
}
