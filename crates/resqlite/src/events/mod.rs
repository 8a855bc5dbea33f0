//! Commit events: what each commit changed, for whoever listens.
//!
//! A listener asks for the next event and gets all commits since the last one together. So the commit log is the only
//! memory: a listener that is slow gets fewer events, each of more commits, and one that is slower than the log is long
//! is told that some are missing. While nobody listens, a commit costs one atomic load here. Rows are recorded for the log
//! only while a listener wants them.

mod event;
mod listener;
mod merge;
mod rows;

pub use event::{CommitEvent, TableEvent};
pub use listener::CommitListener;
pub use rows::{Changes, RowEvent, RowState, Unlisted};

pub(crate) use listener::CommitEvents;
