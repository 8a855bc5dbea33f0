//! What commits change: recorded while it happens, decoded as far as the interest needs, kept in the commit log.

mod barrier;
pub(crate) mod decode;
mod ids;
pub(crate) mod log;
pub(crate) mod observer;
pub(crate) mod recorder;
pub(crate) mod states;
pub(crate) mod tables;
