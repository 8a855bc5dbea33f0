//! Reading: connections that workers take for a job and put back, and the jobs that wait for one.
//!
//! ```text
//! readers      the jobs of callers and of live queries ── pool: which is next, how many at a time, pauses
//! leases       snapshots and cursors that are open, wait, or are held back ── session: one of them, step by step
//! connections  the connections that nobody uses
//! reading      read transactions: which commits they show
//! ```

mod any;
mod connections;
mod hold;
mod inline;
mod job;
mod leases;
mod moves;
mod pool;
mod readers;
mod reading;
mod session;

pub(crate) use any::AnyStatement;
pub(crate) use connections::Connections;
pub use inline::InlineCounts;
pub(crate) use job::{Job, ReaderJob};
pub(crate) use leases::{Lease, Leases};
pub(crate) use pool::Pool;
pub(crate) use readers::Readers;
pub(crate) use reading::{ExactState, ReadState, Reader, Reading, Shared};
