//! The only place where threads are started.

use std::io;

#[cfg(loom)]
use loom::thread::Builder;
#[cfg(loom)]
pub(crate) use loom::thread::{JoinHandle, yield_now};
#[cfg(feature = "simulation")]
use shuttle::thread::Builder;
#[cfg(feature = "simulation")]
pub(crate) use shuttle::thread::{JoinHandle, yield_now};
#[cfg(not(any(loom, feature = "simulation")))]
use std::thread::Builder;
#[cfg(not(any(loom, feature = "simulation")))]
pub(crate) use std::thread::{JoinHandle, yield_now};

use crate::core::limits;

/// Starts a thread that may run SQL. Its stack is larger than the stack that a statement can use
/// within SQLite's limits ([`limits::STACK_BYTES`]).
///
/// # Errors
/// The system's error, if it can start no more threads.
///
/// ```
/// let thread = resqlite::binding::start_thread("worker", || 1 + 1)?;
/// assert_eq!(thread.join().unwrap(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn start_thread<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    #[cfg_attr(
        not(any(loom, feature = "simulation")),
        expect(clippy::disallowed_methods, reason = "everybody else calls this function")
    )]
    Builder::new()
        .name(name.to_owned())
        .stack_size(limits::STACK_BYTES)
        .spawn(body)
}

/// Returns whether a thread is known to have ended, without waiting for it.
pub(crate) fn has_ended<T>(thread: &JoinHandle<T>) -> bool {
    #[cfg(not(any(loom, feature = "simulation")))]
    return thread.is_finished();
    #[cfg(any(loom, feature = "simulation"))]
    {
        let _ = thread;
        false
    }
}
