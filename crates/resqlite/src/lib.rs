//! resqlite: SQLite for programs that must never stall.
//!
//! Reads run on the workers of the process. Writes run on one writer, which commits queued writes together.
//! Callers only wait for the reply. [`Database`] is the API with futures, which need no particular runtime;
//! [`binding`] is what bindings to other languages use.
//!
//! A read travels: [`Database::select`] → queue → worker → row batches → reply. A write travels: queue →
//! writer → COMMIT → commit log ([`Engine::commits_since`](binding::Engine::commits_since)) → reply.
//!
//! ```
//! use resqlite::{CommitId, Database, Options};
//!
//! # fn main() -> resqlite::Result<()> {
//! pollster::block_on(async {
//!     let db = Database::open(":memory:", Options::default()).await?;
//!     db.exec("CREATE TABLE t(a, b)").await?;
//!     let done = db.execute("INSERT INTO t VALUES (?, ?) RETURNING a", [1.into(), 2.5.into()]).await?;
//!     assert_eq!((done.changes, done.rows.len(), done.commit), (1, 1, CommitId(2)));
//!     db.close().await
//! })
//! # }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
// Without the feature `log`, code that only the log uses is dead, but stays where it belongs.
#![cfg_attr(not(feature = "log"), allow(dead_code, unused_imports))]

mod api;
mod backup;
mod commits;
mod connection;
mod core;
#[cfg(feature = "log")]
mod entries;
pub mod events;
mod functions;
mod guard;
pub mod live;
#[cfg(feature = "log")]
pub mod log;
mod maintain;
mod reader;
mod requests;
mod rows;
mod sql;
mod writer;

#[cfg(feature = "profile")]
pub use crate::core::profile;
pub use crate::{
    api::{
        answers::{QueryResult, WriteResult},
        copies::CheckpointMode,
        cursor::Cursor,
        database::Database,
        diagnostics::Diagnostics,
        live_query::{Emitted, LiveQuery, LiveRows},
        sessions::{Snapshot, Transaction},
    },
    backup::{BackedUp, BackupOptions, Verify},
    core::{
        commit_id::CommitId,
        error::{EntryFault, Error, Result},
        extension::Extension,
        function::{Aggregate, Function},
        limits,
        options::{Checkpoints, Durability, Options, Resting},
        params::{self, Params},
        value::Value,
    },
    requests::{
        description::Description,
        holders::{Holder, HolderKind, LockWait},
        request::{QueryLimits, TransactionOptions},
    },
    rows::{Column, Columns, Row, Rows},
};
pub use resqlite_sqlite::{
    Checkpointed, Error as SqliteError, Key, ValueRef, can_encrypt, version as sqlite_version,
};

/// The interface for bindings to other languages: the engine without futures, its requests and their replies, and rows as bytes.
///
/// An [`Engine`](binding::Engine) takes requests at once. Its threads later call the [`Reply`](binding::Reply) of each request,
/// or the closure that came with the request.
pub mod binding {
    #[cfg(feature = "simulation")]
    pub use crate::core::simulated;
    pub use crate::{
        api::{
            engine::Engine,
            handle::{Handle, run, wait_for_threads},
        },
        backup::BackupReply,
        connection::inline::{GivenUp, InlineQuery, InlineRows},
        core::{
            threads::start_thread,
            token::{Scope, Token, TokenSlot},
        },
        requests::{
            request::{
                BatchPart, BatchParts, Format, Outcome, ParamSets, Query, Reply, Write, WriteOp, Written,
            },
            session::Session,
            statements::{StatementResult, Statements},
        },
        rows::{ColumnLayout, Integers, Packed, RowBatch},
    };
    pub use resqlite_sqlite::is_switched_on;
}

/// Change feeds: every commit, in order, for consumers that come back. [`Database::feed`] opens one.
#[cfg(feature = "log")]
pub mod feeds {
    pub use crate::{
        api::feeds::{ChangeFeed, FeedCommit},
        requests::feed::{FeedOptions, Gap, Keep},
    };
}
