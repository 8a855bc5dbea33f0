//! For systems that cannot tell whether a read would wait for a disk.

pub(crate) fn install() {}

/// Must not be called: see [`is_possible_at_once`].
pub fn at_once<R>(_reads: u32, work: impl FnOnce() -> R) -> R {
    work()
}

/// Returns whether reads of this file can be made at once.
pub fn is_possible_at_once(_path: &str) -> bool {
    false
}
