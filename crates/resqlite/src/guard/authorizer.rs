//! What the statements of a connection may do, which depends on who they come from.

use std::cell::{Cell, RefCell};

use resqlite_sqlite::{Action, action};

use super::{
    authorizer_log::AuthorizerLog,
    effects::Effects,
    pragmas::{self, Asker},
};
use crate::core::{error::Error, options::Settings};

/// The state of a connection's authorizer.
pub(crate) struct Authorizer {
    role: Role,
    /// Who the statements that are prepared now come from.
    origin: Cell<Origin>,
    effects: RefCell<Effects>,
    /// Set while [`log`](Self::log) runs.
    log: RefCell<Option<AuthorizerLog>>,
    /// Why the authorizer refused, for people.
    refusal: Cell<Option<Error>>,
    /// See [`Options`](crate::Options).
    defensive: bool,
    untrusted: bool,
    /// A script has set something that ends with it.
    script_has_set: Cell<bool>,
}

/// Who a statement comes from, which decides what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A caller, inside a transaction that resqlite manages, or on a reader.
    Wrapped,
    /// A caller, outside any transaction: it may manage transactions and attachments itself.
    Unwrapped(Asker),
    /// resqlite itself.
    Internal,
}

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Writer,
}

impl Authorizer {
    pub(super) fn new(role: Role, settings: &Settings) -> Self {
        Self {
            role,
            origin: Cell::new(Origin::Wrapped),
            effects: RefCell::default(),
            log: RefCell::default(),
            refusal: Cell::new(None),
            defensive: settings.defensive,
            untrusted: settings.untrusted,
            script_has_set: Cell::new(false),
        }
    }

    /// Runs `work`, in which statements may manage transactions, savepoints and attachments.
    pub(crate) fn as_internal<R>(&self, work: impl FnOnce() -> R) -> R {
        self.from(Origin::Internal, work)
    }

    /// Runs `work`, in which the statements of this asker may manage transactions and attachments.
    pub(crate) fn unwrapped<R>(&self, asker: Asker, work: impl FnOnce() -> R) -> R {
        self.from(Origin::Unwrapped(asker), work)
    }

    fn from<R>(&self, origin: Origin, work: impl FnOnce() -> R) -> R {
        let before = self.origin.replace(origin);
        let result = work();
        self.origin.set(before);
        result
    }

    pub(super) fn is_internal(&self) -> bool {
        self.origin.get() == Origin::Internal
    }

    /// Returns whether a script has set something that ends with it, since the last call.
    pub(crate) fn take_script_has_set(&self) -> bool {
        self.script_has_set.take()
    }

    /// Runs `work` and returns, too, what the authorizer was asked about the statements that it prepared.
    pub(crate) fn log<R>(&self, work: impl FnOnce() -> R) -> (R, AuthorizerLog) {
        self.log.replace(Some(AuthorizerLog::default()));
        let result = work();
        (result, self.log.take().unwrap_or_default())
    }

    pub(crate) fn forget_effects(&self) {
        *self.effects.borrow_mut() = Effects::default();
    }

    /// The effects of all statements prepared since [`forget_effects`](Self::forget_effects).
    pub(crate) fn effects(&self) -> Effects {
        self.effects.borrow().clone()
    }

    pub(super) fn take_refusal(&self) -> Option<Error> {
        self.refusal.take()
    }

    /// The callback: whether a statement may do this.
    pub(super) fn authorize(&self, action: Action<'_>) -> bool {
        self.effects.borrow_mut().record(action);
        if let Some(log) = &mut *self.log.borrow_mut() {
            log.record(action);
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
            action::TRANSACTION | action::SAVEPOINT if reader => Some(
                "select cannot manage transactions; use the methods for transactions and snapshots".into(),
            ),
            action::SAVEPOINT if action.second.is_some_and(|name| name.starts_with("resqlite_")) => {
                Some("savepoints whose names begin with resqlite_ are resqlite's own".into())
            }
            action::TRANSACTION => {
                Some("a transaction is managed by its own methods, or by a script given to exec".into())
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
}
