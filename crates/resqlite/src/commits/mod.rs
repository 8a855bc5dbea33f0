//! What commits change: recorded while it happens, decoded as far as the interest needs, kept in the commit log.

mod decode;
mod gate;
pub(crate) mod log;
pub(crate) mod observer;
pub(crate) mod recorder;
mod tables;
