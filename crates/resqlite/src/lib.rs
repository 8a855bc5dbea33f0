//! resqlite: SQLite for programs that must never stall.
//!
//! Reads run on a pool of reader threads. Writes run on one writer thread, which commits queued writes together.
//! Callers only wait for the reply. [`Database`] is the API with futures, which need no particular runtime;
//! [`Engine`] is what bindings to other languages use.
//!
//! A read travels: [`Database::select`] → queue → reader thread → row batches → reply. A write travels: queue →
//! writer thread → COMMIT → commit log ([`Engine::commits_since`]) → reply.
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
// What only the log uses stays where it belongs.
#![cfg_attr(not(feature = "log"), allow(dead_code, unused_imports))]

mod api;
mod backup;
mod commits;
mod connection;
mod core;
#[cfg(feature = "log")]
mod entries;
mod events;
mod functions;
mod guard;
pub mod live;
#[cfg(feature = "log")]
mod log;
mod maintain;
mod reader;
mod requests;
mod rows;
mod sql;
mod writer;

pub use crate::{
    api::{
        answers::{QueryResult, WriteResult},
        copies::CheckpointMode,
        cursor::Cursor,
        database::Database,
        diagnostics::Diagnostics,
        engine::Engine,
        handle::Handle,
        live_query::{Emitted, LiveQuery, LiveRows},
        sessions::{Snapshot, Transaction},
    },
    backup::{BackedUp, BackupOptions, BackupReply, Verify},
    core::{
        commit_id::CommitId,
        error::{EntryFault, Error, Result},
        extension::Extension,
        function::{Aggregate, Function},
        limits,
        options::{Checkpoints, Durability, Options},
        params::{self, Params},
        threads::start_thread,
        token::{Scope, Token, TokenSlot},
        value::Value,
    },
    events::{Changes, CommitEvent, CommitListener, RowEvent, RowState, TableEvent, Unlisted},
    live::{
        Delivery, Emission, Listener, LiveQueryRequest, LiveTotals, Maintenance, StreamStats, Subscription,
    },
    maintain::{Explanation, MaintenanceExplanation},
    requests::{
        description::Description,
        holders::{Holder, HolderKind, LockWait},
        request::{
            BatchPart, BatchParts, Format, Outcome, ParamSets, Query, QueryLimits, Reply, TransactionOptions,
            Write, WriteOp, Written,
        },
        session::Session,
        statements::{StatementResult, Statements},
    },
    rows::{Column, ColumnLayout, Columns, Integers, Packed, Row, RowBatch, Rows},
    sql::{Precision, TableExplanation},
};
pub use resqlite_live::{ROWID, RowDetail, RowKey, RowNames, ToldRow};
pub use resqlite_sqlite::{
    Checkpointed, Error as SqliteError, Key, ValueRef, can_encrypt, is_switched_on, version as sqlite_version,
};

#[cfg(feature = "profile")]
pub use crate::core::profile;
#[cfg(feature = "log")]
pub use crate::{
    api::feeds::{ChangeFeed, FeedCommit},
    core::position::Position,
    entries::{
        Carried, Entry, EntryBase, EntryColumn, EntryGate, EntryKey, EntryTable, Hash, Head, Image,
        Operation, ToldChange, Verdict,
    },
    requests::feed::{FeedOptions, Gap, Keep},
};
