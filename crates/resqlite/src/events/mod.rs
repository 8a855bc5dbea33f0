//! Commit events: the changes of each commit, for all listeners.
//!
//! A listener asks for the next event, and gets all commits since the last event together. So only the commit log remembers commits. A
//! slow listener gets fewer events, each of more commits. If the commit log no longer holds all the commits that a listener lacks, the
//! listener is told that some are missing. While nobody listens, a commit costs one atomic load here. Rows are recorded for the log only
//! while a listener wants them.

mod event;
mod listener;
mod merge;
mod rows;

pub use event::{CommitEvent, TableEvent};
pub use listener::CommitListener;
pub use rows::{Changes, RowEvent, RowState, Unlisted};

pub(crate) use listener::CommitEvents;
