//! Copies the write-ahead log into the database file, without the writer.

use std::sync::atomic::Ordering;

use resqlite_sqlite::{Checkpoint, Checkpointed, Connection};

use crate::{
    core::{
        error::{Error, Result},
        limits,
    },
    guard::authorizer::Role,
    writer::WriterContext,
};

/// Copies the pages that no reader needs in the log, on a connection of its own. Commits go on
/// meanwhile.
///
/// # Errors
/// I/O errors; [`Error::FilesLost`].
pub(crate) fn copy_log(parts: &WriterContext) -> Result<Checkpointed> {
    passive(parts, &connect(parts)?)
}

/// Does what [`copy_log`] does, and repeats it until the rest is so small that the writer may copy
/// it between two commits.
pub(super) fn catch_up(parts: &WriterContext) -> Result<()> {
    let connection = connect(parts)?;
    for _ in 0..limits::CATCH_UP_ROUNDS {
        let Checkpointed { log, copied, .. } = passive(parts, &connection)?;
        let rest = log.unwrap_or(0).saturating_sub(copied.unwrap_or(0));
        if rest < limits::WAL_CHECKPOINT_PAGES {
            break;
        }
    }
    Ok(())
}

fn connect(parts: &WriterContext) -> Result<Connection> {
    parts.location.health.check()?;
    let connection = parts.location.connect(Role::Writer, false)?;
    // Without a read first, SQLite does not know that there is a log.
    connection.query_text("SELECT 1 FROM sqlite_schema")?;
    Ok(connection)
}

fn passive(parts: &WriterContext, connection: &Connection) -> Result<Checkpointed> {
    let copied = connection
        .checkpoint("main", Checkpoint::Passive)
        .map_err(Error::from);
    parts.counters.note_sync(&copied);
    if copied.as_ref().is_ok_and(|copied| !copied.busy) {
        parts.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
    }
    copied
}
