//! Does what the protocol wants, and reports the results to the protocol.

use std::{
    collections::HashMap,
    future::Future,
    num::NonZeroU64,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use resqlite::{
    CommitId, EntryFault,
    binding::{Engine, Token},
    log::{Head, Position, Verdict},
};
use tokio::{
    runtime::Handle,
    sync::{Notify, oneshot, watch},
    task::AbortHandle,
};

use super::{lag::Lag, parts};
use crate::{
    core::{
        deadline::RETRY,
        error::{Error, Result},
        log::{Log, LogError},
        options::Options,
    },
    protocol::{
        Action, Failure, Logged, Protocol, Refusal, RequestId, Run, Settled, Source, Time, Unapplied,
    },
    wire::{Answer, open_envelope},
};

/// The code of a node that is closed.
pub(super) const CLOSED: &str = "RESQLITE_CLOSED";

/// The outcome, as far as it is known, of a write that another node was asked to run.
pub(super) enum Outcome {
    Answer(Answer),
    Settled(Settled),
}

/// A write of another node that runs here.
pub(super) struct Serving {
    pub(super) id: RequestId,
    /// The newest position that the asking node knew.
    pub(super) known: Position,
    pub(super) token: Token,
}

/// The changing state of a node, behind one lock. Nothing is awaited while the lock is held.
pub(crate) struct State {
    pub(crate) protocol: Protocol,
    /// The verdict that the transaction at the gate waits for.
    pub(super) verdict: Option<Verdict>,
    pub(super) requests: HashMap<NonZeroU64, oneshot::Sender<Outcome>>,
    pub(super) served: HashMap<NonZeroU64, Serving>,
    /// The last number of a request, or of a write of another node.
    pub(super) numbers: u64,
    pub(crate) lag: Lag,
    pub(crate) appends: Appends,
}

/// The appends to the log that were answered, whatever the answer was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Appends {
    /// Their number.
    pub count: u64,
    /// The time that they took in total.
    pub total: Duration,
    /// The time that the last append took.
    pub last: Duration,
}

/// A node.
pub(crate) struct Node {
    pub(crate) options: Options,
    pub(crate) run: Run,
    /// The file of the database.
    pub(super) file: PathBuf,
    pub(crate) log: Arc<dyn Log>,
    pub(super) engine: Weak<Engine>,
    runtime: Handle,
    started: Instant,
    state: Mutex<State>,
    /// The position of the database.
    pub(super) applied: watch::Sender<Position>,
    pub(super) stopped: watch::Sender<Option<Refusal>>,
    pub(super) restart_tail: Notify,
    /// The signal that tokens of callers were cancelled.
    pub(super) cancelled: watch::Sender<()>,
    tasks: Mutex<Vec<AbortHandle>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Node {
    pub(super) fn new(
        options: Options,
        run: Run,
        file: PathBuf,
        log: Arc<dyn Log>,
        engine: Weak<Engine>,
        at: Head,
    ) -> Arc<Self> {
        let mut protocol = Protocol::new(run.clone(), at, options.patience());
        if !options.writes {
            protocol.never_write();
        }
        Arc::new(Self {
            options,
            run,
            file,
            log,
            engine,
            runtime: Handle::current(),
            started: Instant::now(),
            state: Mutex::new(State {
                protocol,
                verdict: None,
                requests: HashMap::new(),
                served: HashMap::new(),
                numbers: 0,
                lag: Lag::default(),
                appends: Appends::default(),
            }),
            applied: watch::Sender::new(at.position),
            stopped: watch::Sender::new(None),
            restart_tail: Notify::new(),
            cancelled: watch::Sender::new(()),
            tasks: Mutex::default(),
        })
    }

    pub(super) fn now(&self) -> Time {
        self.started.elapsed()
    }

    /// Runs a task until it ends or the node is closed.
    pub(super) fn run_until_closed(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = self.runtime.spawn(task);
        lock(&self.tasks).push(task.abort_handle());
    }

    /// Runs a task to its end.
    pub(crate) fn run_to_end(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// Runs `work` on the thread of the node.
    pub(crate) async fn on_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.runtime.spawn(work).await.unwrap_or(Err(Error::Closed))
    }

    /// Returns whether this run of the node appended the newest entry that the node has seen.
    pub(super) fn is_writer(self: &Arc<Self>) -> bool {
        self.tell(|state, _| state.protocol.writer() == Some(&self.run))
    }

    /// Reports something to the protocol through `tell`, and does what the protocol then wants.
    pub(crate) fn tell<T>(self: &Arc<Self>, tell: impl FnOnce(&mut State, Time) -> T) -> T {
        let mut state = lock(&self.state);
        let told = tell(&mut state, self.now());
        while let Some(action) = state.protocol.next_action() {
            self.act(&mut state, action);
        }
        let (applied, newest) = (state.protocol.applied().position, state.protocol.newest());
        state.lag.note(self.now(), applied, newest);
        drop(state);
        // Another thread may have sent a later position already.
        self.applied.send_if_modified(|known| {
            let is_later = applied > *known;
            *known = applied.max(*known);
            is_later
        });
        told
    }

    fn act(self: &Arc<Self>, state: &mut State, action: Action) {
        match action {
            Action::Append(number, position, logged) => self.append(number, position, &logged),
            Action::Read(position) => self.read(position),
            Action::AskEnd(had) => self.ask_end(had),
            Action::AskNewest(number) => self.ask_newest(number),
            Action::Pass => {
                state.verdict.take().map(Verdict::pass);
            }
            Action::Overtaken(by) => {
                let by = by.iter().filter_map(|logged| logged.entry.clone()).collect();
                state.verdict.take().map(|verdict| verdict.overtaken(by));
            }
            Action::Refuse(refusal) => {
                if let Some(verdict) = state.verdict.take() {
                    verdict.refuse_as(refusal.code, refusal.message);
                }
            }
            Action::Apply(logged) => self.apply(&logged),
            Action::AskPosition => self.ask_position(),
            Action::CancelBelow(position) => {
                let before = state.served.values().filter(|served| served.known < position);
                before.for_each(|served| served.token.cancel());
            }
            Action::Settled(number, settled) => {
                if let Some(waits) = state.requests.remove(&number) {
                    let _ = waits.send(Outcome::Settled(settled));
                }
            }
            Action::TakeOver => self.take_over(),
            Action::RestartTail => self.restart_tail.notify_one(),
            Action::Stopped(refusal) => {
                self.stopped.send_replace(Some(refusal));
            }
        }
    }

    /// Asks the log, and reports the answer to the protocol.
    fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl Future<Output = Result<T, LogError>> + Send + 'static,
        tell: impl FnOnce(&mut State, Time, Result<T, LogError>) + Send + 'static,
    ) {
        let node = Arc::clone(self);
        self.runtime.spawn(async move {
            let answer = question.await;
            node.tell(|state, now| tell(state, now, answer));
        });
    }

    fn append(self: &Arc<Self>, number: u64, position: Position, logged: &Logged) {
        let (log, bytes) = (Arc::clone(&self.log), logged.bytes.clone());
        let patience = self.options.log_timeout;
        let append = async move { parts::append(&*log, position, bytes, patience).await };
        let began = self.now();
        self.ask(append, move |state, now, answer| {
            if answer.is_ok() {
                state.appends.last = now.saturating_sub(began);
                state.appends.total += state.appends.last;
                state.appends.count += 1;
            }
            let outcome = answer.map_err(failure);
            state.protocol.appended(now, number, outcome);
        });
    }

    fn read(self: &Arc<Self>, position: Position) {
        let (log, patience) = (Arc::clone(&self.log), self.options.log_timeout);
        let read = async move { parts::read(&*log, position, patience).await };
        self.ask(read, move |state, now, answer| match answer {
            Ok(Some(bytes)) => state.read_entry(now, Source::Read, position, bytes),
            Ok(None) => state.protocol.absent(position),
            Err(LogError::Purged { first }) if first > position => state.protocol.purged(first),
            Err(LogError::Damaged(what)) => state.protocol.damaged(position, &what),
            Err(_) => state.protocol.unread(now),
        });
    }

    fn ask_end(self: &Arc<Self>, had: Position) {
        self.ask_last(move |state, now, answer| match answer {
            Ok(end) => state.protocol.ends(now, had, end),
            Err(_) => state.protocol.unread(now),
        });
    }

    fn ask_newest(self: &Arc<Self>, number: u64) {
        self.ask_last(move |state, now, answer| {
            let answer = answer.map_err(|error| error.to_string());
            state.protocol.newest_is(now, number, answer);
        });
    }

    fn ask_last(
        self: &Arc<Self>,
        tell: impl FnOnce(&mut State, Time, Result<Position, LogError>) + Send + 'static,
    ) {
        let (log, patience) = (Arc::clone(&self.log), self.options.log_timeout);
        self.ask(async move { parts::timed(patience, log.last()).await }, tell);
    }

    fn apply(self: &Arc<Self>, logged: &Logged) {
        let (Some(engine), Some(entry)) = (self.engine.upgrade(), logged.entry.clone()) else {
            return;
        };
        let (node, position) = (Arc::clone(self), logged.link.position);
        // `done` may be called at once, and this node's lock is held.
        let done = move |applied: resqlite::Result<CommitId>| {
            if let Err(error) = applied {
                let runtime = node.runtime.clone();
                runtime.spawn(async move { node.not_applied(position, &error) });
            }
        };
        engine.apply(entry, Box::new(done));
    }

    fn ask_position(self: &Arc<Self>) {
        let Some(engine) = self.engine.upgrade() else {
            return;
        };
        let node = Arc::clone(self);
        // `done` may be called at once, and this node's lock is held.
        let done = move |head: resqlite::Result<Head>| {
            let runtime = node.runtime.clone();
            runtime.spawn(async move {
                match head {
                    Ok(head) => node.tell(|state, now| state.protocol.told_position(now, head)),
                    Err(resqlite::Error::Closed) => {}
                    Err(_) => {
                        tokio::time::sleep(RETRY).await;
                        node.ask_position();
                    }
                }
            });
        };
        engine.entry_position(Box::new(done));
    }

    /// Reports to the protocol that the database could not apply an entry.
    pub(super) fn not_applied(self: &Arc<Self>, position: Position, error: &resqlite::Error) {
        let why = match error {
            resqlite::Error::Entry {
                fault: EntryFault::Position,
                ..
            } => Unapplied::Position,
            resqlite::Error::Entry {
                fault: EntryFault::Chain | EntryFault::Row | EntryFault::Malformed,
                message,
            } => Unapplied::Misfit(message.clone()),
            resqlite::Error::Entry {
                fault: EntryFault::NotCarried,
                message,
            } => Unapplied::Hindered(message.clone()),
            error if passes(error) => Unapplied::Later,
            error => Unapplied::Never(format!("{}: {error}", error.code())),
        };
        self.tell(|state, now| state.protocol.not_applied(now, position, why));
    }

    fn take_over(self: &Arc<Self>) {
        let node = Arc::clone(self);
        self.runtime.spawn(async move {
            // If the write fails, it is tried again as long as requests are in doubt.
            let _ = node.write_turn().await;
            node.tell(|state, _| state.protocol.took_over());
        });
    }

    /// Waits until the database has this position.
    pub(crate) async fn reach(&self, position: Position) -> Result<()> {
        let (mut applied, mut stopped) = (self.applied.subscribe(), self.stopped.subscribe());
        tokio::select! {
            biased;
            reached = applied.wait_for(|applied| *applied >= position) => {
                reached.map(drop).map_err(|_| Error::Closed)
            }
            stopped = stopped.wait_for(Option::is_some) => {
                Err(stopped.as_deref().map_or(Error::Closed, stopped_for))
            }
        }
    }

    /// Waits until the database has this position, for as long as the database moves on. It must move on at least once in the
    /// time that a write has.
    pub(crate) async fn reach_while_it_moves(&self, position: Position) -> Result<()> {
        loop {
            let before = *self.applied.borrow();
            let next = position.min(before.next());
            let reached = tokio::time::timeout(self.options.write_timeout, self.reach(next)).await;
            let late = || format!("the log did not give the entry at position {next} in time");
            reached.unwrap_or_else(|_| Err(Error::NoQuorum(late())))?;
            if *self.applied.borrow() >= position {
                return Ok(());
            }
        }
    }

    /// # Errors
    /// The reason why the node has stopped, if it has.
    pub(super) fn check_running(&self) -> Result<()> {
        match &*self.stopped.borrow() {
            None => Ok(()),
            refusal => Err(stopped_for(refusal)),
        }
    }

    /// Ends everything. The transaction at the gate is refused, or its outcome is unknown. The outcome of requests is unknown,
    /// too.
    pub(crate) fn close(self: &Arc<Self>) {
        lock(&self.tasks).drain(..).for_each(|task| task.abort());
        self.tell(|state, _| state.protocol.stop(CLOSED, Error::Closed.to_string()));
    }
}

impl State {
    /// Passes the bytes that the log has at a position to the protocol.
    pub(super) fn read_entry(&mut self, now: Time, source: Source, position: Position, bytes: bytes::Bytes) {
        match open_envelope(bytes) {
            Ok(logged) => self.protocol.received(now, source, position, logged),
            Err(what) => self.protocol.diverged(&format!("at position {position}: {what}")),
        }
    }

    pub(super) fn next_number(&mut self) -> NonZeroU64 {
        self.numbers += 1;
        NonZeroU64::new(self.numbers).expect("it was increased")
    }
}

fn stopped_for(refusal: &Option<Refusal>) -> Error {
    match refusal {
        Some(Refusal { code, message }) if *code != CLOSED => Error::Stopped {
            code,
            message: message.clone(),
        },
        _ => Error::Closed,
    }
}

/// Errors of SQLite whose cause is around the file, and may be gone at the next try.
const PASSING: [&str; 11] = [
    "SQLITE_ABORT",
    "SQLITE_BUSY",
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_INTERRUPT",
    "SQLITE_IOERR",
    "SQLITE_LOCKED",
    "SQLITE_NOMEM",
    "SQLITE_PERM",
    "SQLITE_PROTOCOL",
    "SQLITE_READONLY",
];

/// Returns whether an entry that could not be applied may be applied later.
fn passes(error: &resqlite::Error) -> bool {
    match error {
        resqlite::Error::Sqlite(error) if error.name() == "SQLITE_READONLY_DBMOVED" => false,
        resqlite::Error::Sqlite(error) => PASSING.iter().any(|passing| error.name().starts_with(passing)),
        resqlite::Error::Statement(_) | resqlite::Error::FilesLost { .. } => false,
        _ => true,
    }
}

fn failure(error: LogError) -> Failure {
    match error {
        LogError::Unreachable(why) => Failure::NotSent(why),
        error @ LogError::TooLarge { .. } => Failure::NotSent(error.to_string()),
        error => Failure::Unknown(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use resqlite::SqliteError;

    use super::*;

    fn is_tried_again(code: i32) -> bool {
        passes(&resqlite::Error::Sqlite(SqliteError::new(code, "")))
    }

    // G326
    #[test]
    fn an_entry_is_tried_again_only_after_errors_that_pass() {
        let busy_locked_full_io_memory_interrupt_open = [5, 517, 6, 13, 10, 778, 7, 9, 14];
        for code in busy_locked_full_io_memory_interrupt_open {
            assert!(is_tried_again(code), "{code}");
        }
        let sql_constraint_mismatch_schema_corrupt_toobig_auth = [1, 19, 20, 17, 11, 18, 23];
        for code in sql_constraint_mismatch_schema_corrupt_toobig_auth {
            assert!(!is_tried_again(code), "{code}");
        }
    }
}
