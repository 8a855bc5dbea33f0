//! The writer moves between threads as a whole.
#![allow(unsafe_code)]

use resqlite_sqlite::Confined;

use super::serving::Serving;

// SAFETY: the callbacks of the writer's connection hold the other ends of its guard, of its recorder and of its counts of the log.
// The writer's followers and its hook hold only two things that are not `Send`: a reader of their own and the other end of the
// recorder's sink. All of these are parts of the writer, and everything that the writer hands out by value is `Send`. An open
// transaction holds statements of this connection. Clones of the guard are made only on the stacks of calls that borrow the writer.
unsafe impl Confined for Serving {}
