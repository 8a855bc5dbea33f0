//! The interface for programs.

pub(crate) mod calls;
mod claims;
pub(crate) mod cluster;
pub(crate) mod read_entry;
pub(crate) mod reseed;
