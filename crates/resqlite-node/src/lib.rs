//! The Node-API binding of resqlite: request frames in, reply frames out. Nothing is decided here.
//!
//! One `Port` per JavaScript realm. `submit` takes the requests of one tick in one buffer and hands
//! them to the engine; engine threads write their replies into the port's outbox and wake the realm once; `drain`
//! copies what waits into the realm's inbox. Large slices of rows travel in slabs, memory that both sides see.

mod errors;
mod frames;
mod live;
mod open;
mod outbox;
mod port;
mod profile;
mod reply;
mod slab;

use napi_derive::napi;
#[cfg(feature = "profile")]
pub use profile::{profile_emission, profile_reset, profile_snapshot, profile_turn};

/// The version of the bundled SQLite.
#[napi]
pub fn sqlite_version() -> String {
    resqlite::sqlite_version()
}
