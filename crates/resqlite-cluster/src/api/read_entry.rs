//! Reads the entries of a log, for programs that inspect the log.

use std::time::Duration;

use bytes::Bytes;
use resqlite::log::Position;

use crate::{
    core::log::{Log, LogError},
    node,
};

const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the entry at a position in its envelope, or `None` if there is no entry yet. The entry is whole even if the log keeps
/// it in parts.
///
/// # Errors
/// The log cannot be asked, or has let go of the position.
pub async fn read_entry(log: &dyn Log, position: Position) -> Result<Option<Bytes>, LogError> {
    node::read(log, position, PATIENCE).await
}
