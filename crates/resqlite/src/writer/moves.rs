//! The writer moves between threads as a whole.
#![allow(unsafe_code)]

use resqlite_sqlite::Confined;

use super::serving::Serving;

// SAFETY: the callbacks of the writer's connection hold the other ends of its guard, its recorder and its counts of the log; its
// followers and its hook hold nothing else that is not `Send` but a reader of their own and the other end of the recorder's sink.
// All of them are parts of the writer, and what it hands out by value is `Send`. An open transaction holds statements of this
// connection. Clones of the guard are made on the stacks of calls that borrow the writer only.
unsafe impl Confined for Serving {}
