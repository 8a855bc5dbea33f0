//! The outcome of a call, by the error of the client.

use crate::core::log::LogError;

/// For calls that may have been done.
pub(super) fn unknown(error: &impl ToString) -> LogError {
    LogError::Unknown(error.to_string())
}
