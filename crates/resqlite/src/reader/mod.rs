//! Reading: threads with a read-only connection each, and the queue that feeds them.

mod any;
mod job;
mod lease;
mod pool;
mod readers;
mod reading;
mod relief;
mod thread;

pub(crate) use any::AnyStatement;
pub(crate) use job::{Job, ReaderJob};
pub(crate) use lease::Lease;
pub(crate) use pool::Pool;
pub(crate) use readers::Readers;
pub(crate) use reading::{ExactState, ReadState, Reader, Reading};
