//! What the binding counts in a profile build, and what such a build exports besides. Without the feature `profile`
//! nothing is left of it.

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
