//! A reader, and what a session holds, move between threads as a whole.
#![allow(unsafe_code)]

use resqlite_sqlite::Confined;

use super::{inline::Lent, reading::Reader, session::Held};

// SAFETY: the callbacks of its connection hold the other halves of its guard, and its statements hold its connection. All of them
// are fields of the reader, or belong to the connection. What it hands out by value is `Send`. Clones of its guard are made on the
// stacks of its own methods only.
unsafe impl Confined for Reader {}

// SAFETY: as for a reader. The cursors hold statements of this reader's connection, and nobody else knows of them.
unsafe impl Confined for Held {}

// SAFETY: as for a reader, which is its only part that is not `Send`.
unsafe impl Confined for Lent {}
