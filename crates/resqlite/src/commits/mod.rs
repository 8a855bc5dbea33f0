//! Changes of commits are recorded while they happen, decoded as far as the interest needs, and kept in the commit log.

mod barrier;
pub(crate) mod decode;
mod ids;
pub(crate) mod log;
pub(crate) mod observer;
pub(crate) mod recorder;
pub(crate) mod states;
mod tables;
