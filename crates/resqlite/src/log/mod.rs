//! The log of entries, as a client of the writer: it takes part in each transaction (`writer/hook.rs`), and the writer knows
//! nothing else of it.
//!
//! ```text
//! client      the parts of the hook, each in one line
//! job         what callers ask of it
//! export      draws up the entry of the open transaction; shapes: what it must know about each table
//! entry       makes the entry before COMMIT, and asks the gate
//! position    where the database is in the log
//! apply       entries of another copy of the database
//! feeds       the log of entries that change feeds read; feed_state: what the writer knows of them
//! noticing    whether others have committed, beside a gate or feeds; external: what is known of them
//! alone       SQL that cannot share a transaction
//! own         the tables in which all this is kept
//! ```

mod alone;
mod apply;
mod client;
mod entry;
mod export;
mod external;
mod feed_state;
mod feeds;
mod job;
mod noticing;
mod own;
mod position;
mod shapes;

pub(crate) use self::{client::LogSource, job::LogJob};
