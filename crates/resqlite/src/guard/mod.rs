//! The callbacks of a connection. The authorizer decides what the connection's statements may do. The progress handler and the
//! busy handler decide how long the statements may run.

pub(crate) mod authorizer;
pub(crate) mod authorizer_log;
pub(crate) mod budget;
pub(crate) mod effects;
pub(crate) mod interrupt;
pub(crate) mod pragmas;

use std::rc::Rc;

use resqlite_sqlite::{Connection, codes};

use self::{
    authorizer::{Authorizer, Role},
    interrupt::Interrupt,
};
use crate::core::{error::Error, limits, options::Settings};

/// Shared between a connection's callbacks and the code that runs statements on it; one thread only.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) authorizer: Rc<Authorizer>,
    pub(crate) interrupt: Rc<Interrupt>,
}

impl Guard {
    /// Installs the callbacks on a connection, before anything is prepared on it.
    pub(crate) fn install(connection: &Connection, role: Role, settings: &Settings) -> Self {
        let authorizer = Rc::new(Authorizer::new(role, settings));
        let interrupt = Rc::new(Interrupt::new(settings.busy_timeout));
        let asked = Rc::clone(&authorizer);
        connection.set_authorizer(move |action| asked.authorize(action));
        let asked = Rc::clone(&interrupt);
        connection.set_busy_handler(move |attempt| asked.wait_for_lock(attempt));
        let guard = Self {
            authorizer,
            interrupt,
        };
        guard.set_interval(connection, limits::PROGRESS_OPERATIONS);
        guard
    }

    /// Sets the number of operations after which SQLite asks whether a statement may continue. Limits on steps count in units
    /// of [`limits::PROGRESS_OPERATIONS`], so a connection with another interval has no such limits.
    ///
    /// resqlite's own statements, above all a ROLLBACK, may always continue. Their operations count towards the next question.
    pub(crate) fn set_interval(&self, connection: &Connection, operations: u32) {
        let (origin, asked) = (Rc::clone(&self.authorizer), Rc::clone(&self.interrupt));
        connection.set_progress_handler(operations, move || origin.is_internal() || asked.may_continue());
    }

    /// Runs `work`, in which statements may manage transactions, savepoints and attachments.
    pub(crate) fn as_internal<R>(&self, work: impl FnOnce() -> R) -> R {
        self.authorizer.as_internal(work)
    }

    /// Replaces SQLite's "not authorized" or "interrupted" by resqlite's own reason.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let refusal = self.authorizer.take_refusal();
        let exceeded = self.interrupt.take_exceeded();
        match error.sqlite().map(resqlite_sqlite::Error::primary) {
            Some(codes::AUTH) => refusal.unwrap_or(error),
            Some(codes::ERROR) => advise(error),
            Some(codes::INTERRUPT | codes::BUSY) if exceeded.is_some() => exceeded.unwrap_or(error),
            _ if !error.is_interrupt() => error,
            _ if self.interrupt.is_late() => Error::TimedOut,
            _ => Error::Aborted,
        }
    }
}

/// SQLite does not say why a view, trigger or other part of the schema must not use something.
fn advise(error: Error) -> Error {
    const WHY: &str = "in a schema that is not trusted (there is an option for a trusted schema)";
    match error {
        Error::Sqlite(said)
            if said.message().starts_with("unsafe use of ") && !said.message().ends_with(WHY) =>
        {
            let message = format!("{} {WHY}", said.message());
            Error::Sqlite(resqlite_sqlite::Error::new(said.code(), message).at(said.offset()))
        }
        other => other,
    }
}
