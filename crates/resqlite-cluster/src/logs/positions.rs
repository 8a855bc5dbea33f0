//! Positions in the names of keys and subjects.

/// With 20 digits, so that names sort as positions do.
pub(super) fn digits(position: u64) -> String {
    format!("{position:020}")
}
