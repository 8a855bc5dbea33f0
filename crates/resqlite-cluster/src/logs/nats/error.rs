//! Turns errors of the client into errors of the log.

use crate::core::log::LogError;

/// Returns the error of a call that may have taken effect.
pub(super) fn unknown(error: &impl ToString) -> LogError {
    LogError::Unknown(error.to_string())
}
