//! Writing: one thread, one connection, one transaction at a time.

mod checkpoint;
mod classify;
pub(crate) mod files;
mod thread;
mod transaction;
mod unit;

pub(crate) use thread::{Counters, WriteJob, WriterParts, start};
pub(crate) use transaction::Begin;
