//! Live queries: which streams a commit concerns, when they run again, and what their listeners are told.
//!
//! A [`Stream`](stream::Stream) is one live query (of one or several statements). The [`Hub`] knows all of an engine's: after
//! each commit the writer thread tells it ([`Hub::catch_up`]), it asks the registry whom the commit concerns, and
//! sends readers for those (`runner`). A reader runs a stream's statements in one read transaction, compares
//! each row's fingerprint with those of the result before, and hands the listener what is new. Where there is little to
//! run and nobody waits for the writer thread, it does that itself, with a reader of its own: no thread need be woken.
//!
//! Nothing is missed at the start: the number of the newest commit is read *before* the first run's read
//! transaction begins, and the commits after that number are looked through when the stream is registered.

pub use resqlite_live::*;

mod coordinator;
mod dispatch;
mod external;
mod observer;
mod request;
mod rerun;
mod stats;
mod stream;
mod subscription;
mod verification;

pub(crate) use coordinator::LiveCoordinator;
pub(crate) use external::ExternalWatch;
pub use request::{Delivery, Emission, Listener, LiveQueryRequest};
pub use stats::{LiveTotals, StreamStats};
pub use subscription::Subscription;

#[cfg(all(test, not(loom)))]
mod tests;
