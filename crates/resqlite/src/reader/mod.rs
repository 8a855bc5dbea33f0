//! Reading: threads with a read-only connection each, and the queue that feeds them.

mod pool;
mod relief;
mod thread;

pub(crate) use pool::{Pool, PoolStatus};
pub(crate) use thread::{Cursor, Job, Lease, Reader, Readers};
