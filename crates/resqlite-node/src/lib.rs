//! The Node-API binding of resqlite: request frames in, reply frames out. The binding decides nothing.
//!
//! One `Port` per realm. `submit` takes the requests of one tick in one buffer and hands them to the engine; engine
//! threads write their replies into the port's outbox and wake the realm once; `drain` copies the waiting replies into
//! the realm's inbox. Large row batches travel in slabs, which is memory that both sides see.
//!
//! A module imports only modules above it:
//!
//! ```text
//! protocol · sync · errors · texts · cancellation · stats · under_way · external_memory
//! key · limits · sessions · uploads · open · explanation · diagnostics
//! frames · slab
//! subscriptions
//! profile
//! outbox
//! cluster (nodes) · batches
//! opened
//! realm
//! reply · listener
//! copies · cluster (calls)
//! dispatch
//! exchange
//! functions
//! port
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod batches;
mod cancellation;
mod cluster;
mod commit_frames;
mod commit_json;
mod commit_listeners;
mod copies;
mod description;
mod diagnostics;
mod dispatch;
mod errors;
mod exchange;
mod explanation;
mod external_memory;
mod feed_json;
mod frames;
mod functions;
mod inline;
mod key;
mod limits;
mod listener;
mod open;
mod opened;
mod outbox;
mod port;
mod profile;
mod protocol;
mod realm;
mod reply;
mod row_json;
mod sessions;
mod slab;
mod stats;
mod subscriptions;
mod sync;
mod texts;
#[cfg_attr(not(target_os = "linux"), path = "turns_unknown.rs")]
mod turns;
mod under_way;
mod uploads;

use napi_derive::napi;
#[cfg(feature = "profile")]
pub use profile::{profile_emission, profile_reset, profile_snapshot, profile_turn};

/// The logs over which this module can open a node of a cluster: none, unless it was built for that.
#[napi]
pub fn cluster_logs() -> Vec<String> {
    cluster::LOGS.iter().map(|&log| log.to_owned()).collect()
}

/// Breaks the log in memory of this name, for tests: `cut`, `mend`, `loseAnswers` (of a node), `forget`.
#[napi]
pub fn break_log(log: String, what: String, node: String, count: u32) {
    cluster::break_log(&log, &what, &node, count as usize);
}

/// Returns whether this module can open databases with a key.
#[napi]
pub fn can_encrypt() -> bool {
    resqlite::can_encrypt()
}

/// The version of the bundled SQLite.
#[napi]
pub fn sqlite_version() -> String {
    resqlite::sqlite_version()
}
