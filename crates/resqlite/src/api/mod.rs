//! The public API: the engine of one file, and the futures on top of it.

#[cfg(test)]
mod answering_tests;
pub(crate) mod answers;
pub(crate) mod copies;
pub(crate) mod cursor;
pub(crate) mod database;
pub(crate) mod diagnostics;
pub(crate) mod engine;
mod engines;
#[cfg(feature = "log")]
pub(crate) mod entries;
#[cfg(feature = "log")]
pub(crate) mod feeds;
pub(crate) mod handle;
pub(crate) mod live_query;
mod query;
mod rekey;
mod routing;
pub(crate) mod sessions;
#[cfg(test)]
mod states_tests;
