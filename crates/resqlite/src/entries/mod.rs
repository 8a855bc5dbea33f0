//! Entries: the exact changes of one commit, as bytes that can be kept, sent, and applied to a copy of the database.
//!
//! ```text
//! entry      = "rqe", version, position, hash of the entry before, operation*, hash of everything before it
//! operation  = table | insert | update | delete | clear | sql
//! ```
//!
//! The hash of the previous entry links the entries in a chain: two copies of a database that have the same position and hash have
//! applied the same entries.

mod draft;
mod entry;
mod format;
mod gate;
mod head;
mod image;
mod operation;
mod reader;
#[cfg(test)]
mod tests;

pub use entry::{Entry, Hash};
pub use gate::{Carried, EntryGate, Verdict};
pub use head::{EntryBase, Head};
pub use image::Image;
pub use operation::{EntryColumn, EntryKey, EntryTable, Operation, ToldChange};

pub(crate) use draft::{Draft, DraftMark};
pub(crate) use gate::{Judged, verdict};
pub(crate) use reader::Reader;
