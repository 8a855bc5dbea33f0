//! resqlite: SQLite for programs that must never stall.
//!
//! Reads run on a pool of reader threads, writes on one writer thread that commits together what waits together;
//! whoever asks only waits for an answer. [`Database`] is the API with futures, which need no particular runtime;
//! [`Engine`] is what bindings to other languages use.
//!
//! A read travels: [`Database::select`] → queue → reader thread → packed rows → answer. A write travels: queue →
//! writer thread → COMMIT → commit log ([`Engine::commits_since`]) → answer.
//!
//! ```
//! use resqlite::{Database, Options};
//!
//! # fn main() -> resqlite::Result<()> {
//! pollster::block_on(async {
//!     let db = Database::open(":memory:", Options::default()).await?;
//!     db.exec("CREATE TABLE t(a, b)").await?;
//!     let done = db.execute("INSERT INTO t VALUES (?, ?) RETURNING a", [1.into(), 2.5.into()]).await?;
//!     assert_eq!((done.changes, done.rows.len(), done.commit), (1, 1, 2));
//!     db.close().await
//! })
//! # }
//! ```

mod attachments;
mod budget;
mod changes;
mod connect;
mod database;
mod diagnostics;
mod engine;
mod error;
mod guard;
mod halfway;
mod holders;
pub mod limits;
mod live_query;
mod lookout;
mod options;
pub mod params;
mod pragmas;
#[cfg(feature = "profile")]
pub mod profile;
#[cfg(not(feature = "profile"))]
mod profile;
mod queue;
mod reader;
mod reads;
mod request;
mod rows;
mod schemas;
mod session;
mod statements;
mod streams;
mod sync;
mod token;
mod unfit;
mod value;
mod writer;

pub use budget::QueryLimits;
pub use database::{Cursor, Database, Execution, Snapshot, Transaction};
pub use diagnostics::Diagnostics;
pub use engine::{Engine, Handle};
pub use error::{Error, Result};
pub use holders::Holder;
pub use live_query::{Emitted, LiveQuery, LiveRows};
pub use options::{Durability, Options};
pub use params::Params;
pub use reads::{Explanation, Precision, TableExplanation};
pub use request::{Chunk, Chunks, Format, Outcome, Query, Reply, Sets, Work, Write, Written};
pub use resqlite_live as live;
pub use resqlite_sqlite::version as sqlite_version;
pub use rows::{Integers, Row, Rows, Shape, Slice};
pub use session::Session;
pub use streams::{Delivery, Emission, Listener, LiveQueryRequest, LiveTotals, StreamStats, Subscription};
pub use token::{Scope, Token, TokenSlot};
pub use value::Value;
