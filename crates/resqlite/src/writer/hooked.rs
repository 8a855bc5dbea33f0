//! BEGIN and COMMIT, with the hook.

use super::{CommitHook, Writer, writing::Writing};
use crate::core::{commit_id::CommitId, error::Result, options::Durability};

impl Writer {
    /// Lets the hook work, if there is one.
    pub(super) fn hooked<R>(
        &mut self,
        work: impl FnOnce(&mut dyn CommitHook, &mut Writing) -> R,
    ) -> Option<R> {
        let hook = self.hook.as_deref_mut()?;
        Some(work(hook, &mut self.writing))
    }

    /// Asks the hook, if there is one.
    pub(super) fn ask_hook(
        &mut self,
        ask: impl FnOnce(&mut dyn CommitHook, &mut Writing) -> Result<()>,
    ) -> Result<()> {
        self.hooked(ask).unwrap_or(Ok(()))
    }

    /// Begins a transaction that holds the write lock.
    pub(super) fn begin(&mut self, durability: Durability) -> Result<()> {
        let begun = self
            .writing
            .begin(durability)
            .and_then(|names_changed| self.ask_hook(|hook, writing| hook.begun(writing, names_changed)));
        if begun.is_err() {
            self.writing.roll_back();
        }
        begun
    }

    /// Commits, if the hook allows it. `again`: as in [`CommitHook::before_commit`](super::CommitHook::before_commit).
    pub(super) fn commit(&mut self, again: bool) -> Result<CommitId> {
        let id = self.hooked(|hook, writing| hook.before_commit(writing, again));
        let mut committed = self.writing.commit(id.transpose()?.flatten());
        self.hooked(|hook, writing| hook.after_commit(writing, &mut committed));
        committed
    }
}
