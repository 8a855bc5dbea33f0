use crate::core::log::LogError;

/// For calls that may have been done.
pub(super) fn unknown(error: &impl ToString) -> LogError {
    LogError::Unknown(error.to_string())
}
