//! What a connection may do, and what it is doing: authorizer, cancellation and lock waiting in one place.

pub(crate) mod budget;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    thread,
    time::{Duration, Instant},
};

use resqlite_sqlite::{Action, Connection, action, codes};

use crate::{
    connection::{
        engine_connection::{Effects, is_interrupt},
        open::Place,
    },
    core::{
        error::{Error, Result},
        limits,
        options::Settings,
        pragmas::{self, Asker},
        spin::AtWork,
        token::{Scope, Token},
    },
    dependencies::ReadSet,
    guard::budget::Budget,
    requests::request::Query,
};

/// Shared between a connection's callbacks and the code that runs statements on it; one thread only.
#[derive(Clone)]
pub(crate) struct Guard(Rc<State>);

struct State {
    place: Place,
    role: Role,
    /// Who the statements that are prepared now come from.
    origin: Cell<Origin>,
    effects: RefCell<Effects>,
    /// What statements read that are prepared now, while somebody asks.
    reads: RefCell<Option<ReadSet>>,
    /// Why the authorizer refused, for people.
    refusal: Cell<Option<Error>>,
    running: RefCell<Option<Running>>,
    deadline: Cell<Option<Instant>>,
    busy_timeout: Duration,
    /// See [`Options`](crate::Options).
    defensive: bool,
    untrusted: bool,
    /// A script has set something that ends with it.
    script_has_set: Cell<bool>,
    /// When the waiting for a foreign lock began that is going on.
    busy_since: Cell<Option<Instant>>,
    /// Those for whom a foreign lock is waited for; when one gives up, the waiting ends.
    waiting: RefCell<Vec<Token>>,
    /// What the request may still cost, if it has limits.
    budget: RefCell<Option<Budget>>,
    /// The limit that the request has exceeded.
    exceeded: Cell<Option<Error>>,
    /// The transaction, snapshot or cursor that has the connection.
    session: RefCell<Option<Scope>>,
    /// Locks are not waited for.
    impatient: Cell<bool>,
}

/// The request that is being run.
struct Running {
    token: Token,
    _at_work: AtWork,
}

/// Who a statement comes from, which decides what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A caller, inside a transaction that resqlite manages, or on a reader.
    Wrapped,
    /// A caller, outside any transaction: it may manage transactions and attachments itself.
    Unwrapped(Asker),
    /// Resqlite itself.
    Internal,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Writer,
}

impl Guard {
    /// Installs the callbacks on a connection, before anything is prepared on it.
    pub(crate) fn install(connection: &Connection, place: &Place, role: Role, settings: &Settings) -> Self {
        let guard = Self(Rc::new(State {
            place: place.clone(),
            role,
            origin: Cell::new(Origin::Wrapped),
            effects: RefCell::default(),
            reads: RefCell::default(),
            refusal: Cell::new(None),
            running: RefCell::new(None),
            deadline: Cell::new(None),
            busy_timeout: settings.busy_timeout,
            defensive: settings.defensive,
            untrusted: settings.untrusted,
            script_has_set: Cell::new(false),
            busy_since: Cell::new(None),
            waiting: RefCell::default(),
            budget: RefCell::new(None),
            exceeded: Cell::new(None),
            session: RefCell::new(None),
            impatient: Cell::new(false),
        }));
        let state = Rc::clone(&guard.0);
        connection.set_authorizer(move |action| state.authorize(action));
        let state = Rc::clone(&guard.0);
        connection.set_progress_handler(limits::PROGRESS_OPERATIONS, move || state.goes_on());
        let state = Rc::clone(&guard.0);
        connection.set_busy_handler(move |attempt| state.wait_for_lock(attempt));
        guard
    }

    /// A request begins: its token and, from now on, waits for locks count.
    pub(crate) fn start(&self, token: &Token) {
        let _at_work = AtWork::begin();
        *self.0.running.borrow_mut() = Some(Running {
            token: token.clone(),
            _at_work,
        });
        self.0.busy_since.set(None);
    }

    /// A query begins, which may have limits.
    pub(crate) fn start_query(&self, query: &Query) {
        *self.0.budget.borrow_mut() = query.limits.as_deref().cloned().map(Budget::new);
        self.0.exceeded.set(None);
        self.start(&query.token);
    }

    /// The query waits for its caller, which costs it nothing.
    pub(crate) fn pause(&self) {
        self.stop();
        if let Some(budget) = &mut *self.0.budget.borrow_mut() {
            budget.pause();
        }
    }

    /// The query that was paused goes on.
    pub(crate) fn resume(&self, token: &Token) {
        if let Some(budget) = &mut *self.0.budget.borrow_mut() {
            budget.resume();
        }
        self.start(token);
    }

    /// So many bytes of a result are to be handed over.
    ///
    /// # Errors
    /// [`Error::Limit`] if they are more than the query may give, or come too late.
    pub(crate) fn spend_bytes(&self, bytes: usize) -> Result<()> {
        match &mut *self.0.budget.borrow_mut() {
            Some(budget) => budget.check_time().and_then(|()| budget.spend_bytes(bytes)),
            None => Ok(()),
        }
    }

    /// No limits hold from here on.
    pub(crate) fn end_query(&self) {
        *self.0.budget.borrow_mut() = None;
    }

    /// The request is done.
    pub(crate) fn stop(&self) {
        *self.0.running.borrow_mut() = None;
    }

    /// Whether what the connection is doing was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.is_cancelled() || self.0.one_gave_up()
    }

    /// The next foreign lock is waited for as long as the options say, however long an earlier one was.
    pub(crate) fn wait_anew(&self) {
        self.0.busy_since.set(None);
    }

    /// Foreign locks are waited for until one of these is cancelled.
    pub(crate) fn start_waiting(&self, tokens: Vec<Token>) {
        *self.0.waiting.borrow_mut() = tokens;
    }

    /// Whoever waited has the lock, or gave up.
    pub(crate) fn stop_waiting(&self) {
        self.0.waiting.borrow_mut().clear();
    }

    /// An error, if what the connection is doing was cancelled or took too long.
    pub(crate) fn check(&self) -> Result<()> {
        match () {
            () if self.0.is_late() => Err(Error::TimedOut),
            () if self.0.is_cancelled() => Err(Error::Aborted),
            () => Ok(()),
        }
    }

    /// Statements are interrupted after this time.
    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        self.0.deadline.set(deadline);
    }

    /// A session has the connection from now on, or (`None`) no longer. Cancelling it interrupts statements.
    pub(crate) fn set_session(&self, session: Option<Scope>) {
        *self.0.session.borrow_mut() = session;
    }

    /// Runs `work`, in which no lock is waited for.
    pub(crate) fn without_waiting<R>(&self, work: impl FnOnce() -> R) -> R {
        self.0.impatient.set(true);
        let result = work();
        self.0.impatient.set(false);
        result
    }

    /// Runs `work`, in which statements may manage transactions, savepoints and attachments.
    pub(crate) fn internally<R>(&self, work: impl FnOnce() -> R) -> R {
        self.from(Origin::Internal, work)
    }

    /// Runs `work`, in which the statements of this asker may manage transactions and attachments.
    pub(crate) fn unwrapped<R>(&self, asker: Asker, work: impl FnOnce() -> R) -> R {
        self.from(Origin::Unwrapped(asker), work)
    }

    /// Whether a script has set something, since this was last asked, that ends with it.
    pub(crate) fn script_has_set(&self) -> bool {
        self.0.script_has_set.take()
    }

    fn from<R>(&self, origin: Origin, work: impl FnOnce() -> R) -> R {
        let before = self.0.origin.replace(origin);
        let result = work();
        self.0.origin.set(before);
        result
    }

    /// Runs `work` and gives, too, what the statements read that it prepares.
    pub(crate) fn note_reads<R>(&self, work: impl FnOnce() -> R) -> (R, ReadSet) {
        self.0.reads.replace(Some(ReadSet::default()));
        let result = work();
        (result, self.0.reads.take().unwrap_or_default())
    }

    pub(crate) fn forget_effects(&self) {
        *self.0.effects.borrow_mut() = Effects::default();
    }

    /// What the statement prepared last does.
    pub(crate) fn effects(&self) -> Effects {
        self.0.effects.borrow().clone()
    }

    /// Puts resqlite's own reason in the place of SQLite's "not authorized" or "interrupted".
    pub(crate) fn explain(&self, error: Error) -> Error {
        let refusal = self.0.refusal.take();
        let exceeded = self.0.exceeded.take();
        match error.sqlite().map(resqlite_sqlite::Error::primary) {
            Some(codes::AUTH) => refusal.unwrap_or(error),
            Some(codes::ERROR) => advise(error),
            Some(codes::IOERR | codes::CANTOPEN | codes::CORRUPT) => self.0.place.explain(error),
            Some(codes::INTERRUPT | codes::BUSY) if exceeded.is_some() => exceeded.unwrap_or(error),
            _ if !is_interrupt(&error) => error,
            _ if self.0.is_late() => Error::TimedOut,
            _ => Error::Aborted,
        }
    }
}

impl State {
    fn is_cancelled(&self) -> bool {
        let cancelled = self
            .running
            .borrow()
            .as_ref()
            .is_some_and(|running| running.token.is_cancelled());
        let ended = self.session.borrow().as_ref().is_some_and(Scope::is_cancelled);
        cancelled || ended || self.is_late()
    }

    /// Resqlite's own statements are never interrupted, a ROLLBACK least of all: its steps count, too, towards the
    /// next look at the token.
    fn goes_on(&self) -> bool {
        self.origin.get() == Origin::Internal
            || !(self.is_cancelled() || self.is_exhausted(Budget::spend_steps))
    }

    /// Whether the request has come to one of its limits: that of time, or the one that `spend` looks at.
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

    fn is_late(&self) -> bool {
        self.deadline.get().is_some_and(|end| Instant::now() >= end)
    }

    fn one_gave_up(&self) -> bool {
        self.waiting.borrow().iter().any(Token::is_cancelled)
    }

    /// SQLite's own waits grow quickly; ours end when the caller gives up, too.
    fn wait_for_lock(&self, attempt: u32) -> bool {
        let now = Instant::now();
        let since = self.busy_since.get().unwrap_or(now);
        self.busy_since.set(Some(since));
        let left = self.busy_timeout.saturating_sub(now - since);
        let gives_up = self.is_cancelled() || self.one_gave_up() || self.is_exhausted(|_| Ok(()));
        if left.is_zero() || self.impatient.get() || gives_up {
            return false;
        }
        let pause = Duration::from_micros(100 << attempt.min(10));
        thread::sleep(pause.min(limits::BUSY_PAUSE_MAX).min(left));
        true
    }

    fn authorize(&self, action: Action<'_>) -> bool {
        self.note_effects(action);
        if let Some(reads) = &mut *self.reads.borrow_mut() {
            reads.note(action);
        }
        let refusal = match self.origin.get() {
            Origin::Internal => None,
            Origin::Unwrapped(asker) => self.refuse_anywhere(action, asker),
            Origin::Wrapped => self.refuse(action),
        };
        match refusal {
            None => true,
            Some(reason) => {
                self.refusal.set(Some(Error::Statement(reason)));
                false
            }
        }
    }

    fn refuse(&self, action: Action<'_>) -> Option<String> {
        let reader = self.role == Role::Reader;
        match action.code {
            action::TRANSACTION | action::SAVEPOINT if reader => {
                Some("select cannot manage transactions; use transaction() or snapshot()".into())
            }
            action::SAVEPOINT if action.second.is_some_and(|name| name.starts_with("resqlite_")) => {
                Some("savepoints whose names begin with resqlite_ are resqlite's own".into())
            }
            action::TRANSACTION => {
                Some("a transaction is managed by transaction(), or by a script given to exec".into())
            }
            action::ATTACH | action::DETACH if reader => {
                Some("ATTACH and DETACH go through execute or exec".into())
            }
            action::ATTACH | action::DETACH => {
                Some("ATTACH and DETACH cannot run inside a transaction".into())
            }
            _ if reader => self.refuse_anywhere(action, Asker::Reader),
            _ => self.refuse_anywhere(action, Asker::Transaction),
        }
    }

    /// What is refused inside transactions and outside.
    fn refuse_anywhere(&self, action: Action<'_>, asker: Asker) -> Option<String> {
        match action.code {
            // VACUUM attaches a file without a name.
            action::ATTACH if self.untrusted && action.first != Some("") => {
                Some("ATTACH and VACUUM INTO are refused in a database that was opened as untrusted".into())
            }
            action::PRAGMA => {
                let (name, argument) = (action.first.unwrap_or(""), action.second.is_some());
                let refusal = pragmas::refusal(name, argument, asker, self.defensive);
                if refusal.is_none() && argument && pragmas::ends_with_script(name) {
                    self.script_has_set.set(true);
                }
                refusal
            }
            _ => None,
        }
    }

    fn note_effects(&self, action: Action<'_>) {
        let mut effects = self.effects.borrow_mut();
        match action.code {
            action::INSERT | action::UPDATE | action::DELETE => {
                let table = action.first.unwrap_or("");
                if table.starts_with("sqlite_") && table != "sqlite_sequence" {
                    return;
                }
                effects.triggers |= action.through.is_some();
                let entry = (action.schema.unwrap_or("main").to_owned(), table.to_owned());
                if !effects.writes.contains(&entry) {
                    effects.writes.push(entry);
                }
            }
            action::PRAGMA => {
                let name = action.first.unwrap_or("");
                effects.only_tells = pragmas::only_tells(name, action.second.is_some());
                effects.statistics |= name.eq_ignore_ascii_case("optimize");
            }
            code if SCHEMA_ACTIONS.contains(&code) => {
                effects.schema = true;
                effects.statistics |= code == action::ANALYZE;
            }
            _ => {}
        }
    }
}

/// SQLite does not say why a view, trigger or other part of the schema must not use something.
fn advise(error: Error) -> Error {
    const WHY: &str = "in a schema that is not trusted (option trustedSchema)";
    match error {
        Error::Sqlite(told)
            if told.message().starts_with("unsafe use of ") && !told.message().ends_with(WHY) =>
        {
            let message = format!("{} {WHY}", told.message());
            Error::Sqlite(resqlite_sqlite::Error::new(told.code(), message).at(told.offset()))
        }
        other => other,
    }
}

/// What changes definitions, or the order in which queries meet rows: ANALYZE makes SQLite choose other plans,
/// REINDEX follows a collation that changed.
const SCHEMA_ACTIONS: [i32; 23] = [
    action::ANALYZE,
    action::CREATE_INDEX,
    action::CREATE_TABLE,
    action::CREATE_TEMP_INDEX,
    action::CREATE_TEMP_TABLE,
    action::CREATE_TEMP_TRIGGER,
    action::CREATE_TEMP_VIEW,
    action::CREATE_TRIGGER,
    action::CREATE_VIEW,
    action::CREATE_VTABLE,
    action::DROP_INDEX,
    action::DROP_TABLE,
    action::DROP_TEMP_INDEX,
    action::DROP_TEMP_TABLE,
    action::DROP_TEMP_TRIGGER,
    action::DROP_TEMP_VIEW,
    action::DROP_TRIGGER,
    action::DROP_VIEW,
    action::DROP_VTABLE,
    action::ALTER_TABLE,
    action::ATTACH,
    action::DETACH,
    action::REINDEX,
];
