//! The log of entries: what each commit changed, exactly, as bytes that can be kept, sent, and applied to a copy of the database.
//!
//! An [`EntryGate`] sees the [`Entry`] of each transaction before COMMIT
//! ([`set_entry_gate`](crate::Database::set_entry_gate)); [`apply`](crate::Database::apply) applies one to a copy.
//!
//! To the writer, the log is a client: it takes part in each transaction (`writer/hook.rs`), and the writer knows nothing else
//! of the log.
//!
//! ```text
//! client      the parts of the hook, each in one line
//! job         what callers ask of the log
//! maker       draws up the entry of the open transaction; shapes: what it must know about each table
//! entry       makes the entry before COMMIT, and asks the gate
//! position    where the database is in the log
//! apply       entries of another copy of the database
//! feeds       the log of entries that change feeds read; feed_state: what the writer knows of them
//! noticing    whether others have committed, beside a gate or feeds; external: what is known of them
//! unwrapped   SQL that cannot share a transaction
//! own         the tables in which the log is kept
//! ```

mod apply;
mod client;
mod entry;
mod external;
mod feed_state;
mod feeds;
mod job;
mod maker;
mod noticing;
mod own;
mod position;
mod shapes;
mod unwrapped;

pub use crate::{
    core::position::Position,
    entries::{
        Carried, Entry, EntryBase, EntryColumn, EntryGate, EntryKey, EntryTable, Hash, Head, Image,
        Operation, ToldChange, Verdict,
    },
};

pub(crate) use self::{client::LogSource, job::LogJob};
