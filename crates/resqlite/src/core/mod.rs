//! The base of every room: errors, bounds, threads, workers, locks, queues, spinning, cancellation tokens, values, parameters,
//! names, functions, extensions, options.

pub(crate) mod clock;
pub(crate) mod commit_id;
pub(crate) mod error;
pub(crate) mod extension;
pub(crate) mod function;
pub mod limits;
pub(crate) mod live_value;
pub(crate) mod long_work;
pub(crate) mod names;
pub(crate) mod options;
pub mod params;
pub(crate) mod position;
#[cfg(feature = "profile")]
pub mod profile;
#[cfg(not(feature = "profile"))]
pub(crate) mod profile;
pub(crate) mod queue;
#[cfg(feature = "simulation")]
pub mod simulated;
pub(crate) mod spin;
pub(crate) mod sync;
pub(crate) mod threads;
pub(crate) mod token;
pub(crate) mod tokens;
pub(crate) mod value;
pub(crate) mod workers;
