//! The only way to observe commits.
//!
//! External commits are looked for while live queries are open (`live/external.rs`). They enter the commit log on the writer's thread, so
//! all observers see them. A read-only engine has no writer: in it, only live queries see external commits.
//!
//! An observer has one part that any thread may call, and another part for each writer. The second part is used only in the writer's
//! turns. If the thread of a writer panicked, both the writer and this part are replaced.

use std::{sync::Arc, time::Duration};

use crate::{connection::engine_connection::EngineConnection, core::error::Result};

/// Something that is notified of every commit of an engine. The commit log says what a commit changed.
pub(crate) trait CommitObserver: Send + Sync {
    /// Called when a writer has opened its connection. Returns the part that follows this writer; this part is dropped before the
    /// connection is closed. `replaces` states that the previous writer was lost, so nothing is known of what other processes have
    /// committed meanwhile.
    ///
    /// # Errors
    /// The errors of the connection.
    fn follow_writer(
        self: Arc<Self>,
        connection: &mut EngineConnection,
        replaces: bool,
    ) -> Result<Box<dyn CommitFollower>>;

    /// Called when a writer was lost. The log then has an entry "everything" for the changes that this writer may have committed.
    fn writer_lost(self: Arc<Self>);
}

/// The part of an observer that belongs to a writer.
///
/// The writer calls both methods after each of its turns, whether it has committed or not. It does so after it has answered its callers:
/// they do not wait for observers. So `committed` must be quick, above all if there is nothing to do.
pub(crate) trait CommitFollower {
    /// Notes that the log may have new commits. `spare` returns how long the writer may be used now: not at all while something waits for
    /// the writer.
    fn committed(&mut self, spare: &dyn Fn() -> Duration);

    /// Notes that the writer is about to close its connection for a while. Returns whether it may
    /// do so.
    fn may_rest(&mut self, _writer: &mut EngineConnection) -> bool {
        true
    }

    /// Notes that all observers have seen these commits, and that the state is settled (`Commits::settled`). The observer may now use the
    /// writer for quick work, and its connection for reading. `spare` may be called several times.
    fn settled(&mut self, writer: &mut EngineConnection, spare: &dyn Fn() -> Duration);
}
