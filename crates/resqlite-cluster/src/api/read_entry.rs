//! Reading of the entries of a log, for programs that look at it.

use std::time::Duration;

use bytes::Bytes;
use resqlite::log::Position;

use crate::{
    core::log::{Log, LogError},
    node,
};

const PATIENCE: Duration = Duration::from_secs(10);

/// The entry at a position, in its envelope; `None` if there is none yet. It is whole, also where the log has it in parts.
///
/// # Errors
/// The log cannot be asked, or has let go of the position.
pub async fn read_entry(log: &dyn Log, position: Position) -> Result<Option<Bytes>, LogError> {
    node::read(log, position, PATIENCE).await
}
