//! What programs use.

pub(crate) mod cluster;
pub mod fake;
