//! What programs use.

pub(crate) mod calls;
mod claims;
pub(crate) mod cluster;
pub(crate) mod reseed;
