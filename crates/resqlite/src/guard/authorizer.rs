//! The rights of the statements of a connection, which depend on the origin of the statements.

use std::cell::{Cell, RefCell};

use resqlite_sqlite::{Action, Statement, action};

use super::{
    authorizer_log::AuthorizerLog,
    effects::Effects,
    pragmas::{self, Asker},
};
use crate::core::{error::Error, names::after_prefix, options::Settings};

/// The state of a connection's authorizer.
pub(crate) struct Authorizer {
    role: Role,
    /// The origin of the statements that are prepared now.
    origin: Cell<Origin>,
    effects: RefCell<Effects>,
    /// Set while [`log`](Self::log) runs.
    log: RefCell<Option<AuthorizerLog>>,
    /// The reason of the last refusal, for people.
    refusal: Cell<Option<Error>>,
    /// See [`Options`](crate::Options).
    defensive: bool,
    untrusted: bool,
    /// A script has set something that lasts only until the script ends.
    script_has_set: Cell<bool>,
    /// A reader would have refused a statement that was described.
    described_a_write: Cell<bool>,
    /// A statement that makes something in the temporary schema was prepared, though perhaps not run.
    may_have_temporary: Cell<bool>,
}

/// The origin of a statement, which decides what the statement may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A caller, inside a transaction that resqlite manages, or on a reader.
    Wrapped,
    /// A caller, outside any transaction: the statement may manage transactions and attachments itself.
    Unwrapped(Asker),
    /// A caller who wants to know what the statement is, and does not run it.
    Description,
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
            described_a_write: Cell::new(false),
            may_have_temporary: Cell::new(false),
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

    /// Runs `work`, which only prepares statements. Also returns whether a reader would refuse one of these statements because
    /// it is not a read.
    pub(crate) fn describing<R>(&self, work: impl FnOnce() -> R) -> (R, bool) {
        self.described_a_write.set(false);
        let result = self.from(Origin::Description, work);
        (result, self.described_a_write.get())
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

    /// Returns whether, since the last call, a script has set something that lasts only until the script ends.
    pub(crate) fn take_script_has_set(&self) -> bool {
        self.script_has_set.take()
    }

    /// Runs `work`. Also returns what SQLite asked the authorizer about the statements that `work` prepared.
    pub(crate) fn log<R>(&self, work: impl FnOnce() -> R) -> (R, AuthorizerLog) {
        self.log.replace(Some(AuthorizerLog::default()));
        let result = work();
        (result, self.log.take().unwrap_or_default())
    }

    pub(crate) fn forget_effects(&self) {
        *self.effects.borrow_mut() = Effects::default();
    }

    /// Returns the effects of `statement`, which must be the only one prepared since [`forget_effects`](Self::forget_effects).
    /// An EXPLAIN has no effects.
    pub(crate) fn effects_of(&self, statement: &Statement) -> Effects {
        if statement.is_explain() {
            return Effects::default();
        }
        self.effects.borrow().clone()
    }

    /// Returns whether the connection may have temporary tables or views.
    pub(crate) fn may_have_temporary(&self) -> bool {
        self.may_have_temporary.get()
    }

    pub(super) fn take_refusal(&self) -> Option<Error> {
        self.refusal.take()
    }

    /// The authorizer's callback: returns whether a statement may do this action.
    pub(super) fn authorize(&self, action: Action<'_>) -> bool {
        self.effects.borrow_mut().record(action);
        if makes_temporary(action) {
            self.may_have_temporary.set(true);
        }
        if let Some(log) = &mut *self.log.borrow_mut() {
            log.record(action);
        }
        let refusal = match self.origin.get() {
            Origin::Internal => None,
            Origin::Unwrapped(asker) => self.refuse_anywhere(action, asker).map(Error::Statement),
            Origin::Description => self.refuse_description(action),
            Origin::Wrapped if self.role == Role::Reader => self.refuse_on_reader(action),
            Origin::Wrapped => self.refuse_in_transaction(action).map(Error::Statement),
        };
        let may = refusal.is_none();
        if !may {
            self.refusal.set(refusal);
        }
        may
    }

    /// Refuses every action that is not a read. The error is `Error::ReadOnly`, except where no other method would accept the
    /// statement either.
    fn refuse_on_reader(&self, action: Action<'_>) -> Option<Error> {
        let reason = match action.code {
            action::TRANSACTION | action::SAVEPOINT => {
                "select cannot manage transactions; use transaction, begin or snapshot".into()
            }
            action::ATTACH | action::DETACH => "ATTACH and DETACH go through execute or exec".into(),
            _ => self.refuse_anywhere(action, Asker::Reader)?,
        };
        if action.code == action::PRAGMA && !pragmas::is_known(action.first.unwrap_or("")) {
            return Some(Error::Statement(reason));
        }
        Some(Error::ReadOnly(reason))
    }

    /// Refuses only what SQLite would carry out while it prepares the statement, before any step.
    fn refuse_description(&self, action: Action<'_>) -> Option<Error> {
        let refusal = self.refuse_on_reader(action)?;
        let does_something =
            action.code == action::PRAGMA && !pragmas::waits_for_its_first_step(action.first.unwrap_or(""));
        if does_something {
            return Some(refusal);
        }
        self.described_a_write.set(true);
        None
    }

    fn refuse_in_transaction(&self, action: Action<'_>) -> Option<String> {
        match action.code {
            action::SAVEPOINT if action.second.is_some_and(is_own) => {
                Some("savepoints whose names begin with resqlite_ are resqlite's own".into())
            }
            action::TRANSACTION => {
                Some("a transaction is managed by its own methods, or by a script given to exec".into())
            }
            action::ATTACH | action::DETACH => {
                Some("ATTACH and DETACH cannot run inside a transaction".into())
            }
            _ => self.refuse_anywhere(action, Asker::Transaction),
        }
    }

    /// Refuses actions that are allowed neither inside transactions nor outside.
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

/// SQLite ignores the case of a savepoint's name.
fn is_own(savepoint: &str) -> bool {
    after_prefix(savepoint, "resqlite_").is_some()
}

/// SQLite asks the authorizer before it adds a row to a schema's table of contents. For the temporary schema, SQLite does not
/// always use that table's own name.
fn makes_temporary(action: Action<'_>) -> bool {
    let is_contents = action.first.is_some_and(|table| table.starts_with("sqlite_"));
    let is_temporary = action
        .schema
        .is_some_and(|schema| schema.eq_ignore_ascii_case("temp"));
    action.code == action::INSERT && is_contents && is_temporary
}
