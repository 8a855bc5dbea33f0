//! Counters of where time goes, in builds with the feature `profile`; see [`Counters`].
//!
//! The counters are process-wide: all databases and all threads add to them. Without the feature, this module is not public, and the
//! functions that the engine calls here are empty.
//!
#![cfg_attr(feature = "profile", doc = "```standalone_crate")]
#![cfg_attr(not(feature = "profile"), doc = "```ignore")]
//! use resqlite::{Database, Options, profile};
//!
//! # pollster::block_on(async {
//! let db = Database::open(":memory:", Options::default()).await?;
//! let before = profile::snapshot();
//! db.exec("CREATE TABLE t(a, b)").await?;
//! db.execute("INSERT INTO t VALUES (?, ?)", [1.into(), 2.into()]).await?;
//! db.select("SELECT a, b FROM t", ()).await?;
//! // The writer counts a request when it is done with it, which is after the answer.
//! db.close().await?;
//!
//! let spent = profile::snapshot().since(&before);
//! assert_eq!((spent.writer_request_count, spent.writer_commit_count), (2, 2));
//! assert_eq!((spent.rows_decoded, spent.cells_decoded), (1, 2));
//! assert!(spent.writer_commit_us <= spent.writer_request_us);
//! # Ok::<(), resqlite::Error>(())
//! # }).unwrap();
//! ```

#[cfg(feature = "profile")]
mod counters;
#[cfg(not(feature = "profile"))]
mod off;
#[cfg(feature = "profile")]
mod on;

#[cfg(feature = "profile")]
pub use counters::{
    Counters, record_completion_handler, record_completions, record_rows, record_stream_emit, record_submit,
    reset, snapshot,
};
#[cfg(not(feature = "profile"))]
pub(crate) use off::*;
#[cfg(feature = "profile")]
pub(crate) use on::*;
