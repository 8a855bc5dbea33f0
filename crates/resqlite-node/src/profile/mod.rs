//! The counters of the binding in a profile build, and the functions that such a build exports. Without the feature
//! `profile`, all functions here are empty.

#[cfg(not(feature = "profile"))]
mod off;
#[cfg(feature = "profile")]
mod on;

#[cfg(not(feature = "profile"))]
pub(crate) use off::*;
#[cfg(feature = "profile")]
pub(crate) use on::{completions, rows, submission};
#[cfg(feature = "profile")]
pub use on::{profile_emission, profile_reset, profile_snapshot, profile_turn};
