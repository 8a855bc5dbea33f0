//! The one way to observe commits.
//!
//! External commits are looked for while live queries are open (`live/external.rs`). They enter the commit log on the
//! writer's thread, so all observers see them. A read-only engine has no writer: there only live queries see them.
//!
//! An observer has a part that any thread may call, and one part per writer that lives in a turn of the writer. A writer
//! whose thread panicked is replaced; so is the observer's part.

use std::{sync::Arc, time::Duration};

use crate::{connection::engine_connection::EngineConnection, core::error::Result};

/// Something that is notified of every commit of an engine. The commit log says what a commit changed.
pub(crate) trait CommitObserver: Send + Sync {
    /// Called when a writer has opened its connection. Returns the part that follows this writer; it is
    /// dropped before the connection is closed. `replaces`: the writer before this one was lost, so nothing is known of
    /// what other processes have committed meanwhile.
    ///
    /// # Errors
    /// The errors of the connection.
    fn follow_writer(
        self: Arc<Self>,
        connection: &mut EngineConnection,
        replaces: bool,
    ) -> Result<Box<dyn CommitFollower>>;

    /// Called when a writer was lost: the log has an entry "everything" for what it may have committed.
    fn writer_lost(self: Arc<Self>);
}

/// The part of an observer that the writer has.
///
/// The writer calls both methods after each of its turns, whether it has committed or not, and after it has answered the
/// callers: they do not wait for observers. So `committed` must be quick, above all where there is nothing to do.
pub(crate) trait CommitFollower {
    /// The log may have new commits. `spare` tells how long the writer may be used now: not at all while something
    /// waits for the writer.
    fn committed(&mut self, spare: &dyn Fn() -> Duration);

    /// The writer is about to close its connection for a while. Returns whether it may.
    fn may_rest(&mut self, _writer: &mut EngineConnection) -> bool {
        true
    }

    /// All observers have seen these commits, and the state is settled (`Commits::settled`): now the observer may use
    /// the writer for quick work, and its connection for reading. `spare` may be asked several times.
    fn settled(&mut self, writer: &mut EngineConnection, spare: &dyn Fn() -> Duration);
}
