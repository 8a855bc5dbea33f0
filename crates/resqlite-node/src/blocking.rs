//! Work that blocks for a moment, kept away from the realm's thread.

/// Runs `work` on a thread of its own. A reply that `work` owns reports by itself when the thread cannot be started or
/// panics.
pub(crate) fn run(work: impl FnOnce() + Send + 'static) {
    let _ = resqlite::binding::start_thread("resqlite-open", work);
}
