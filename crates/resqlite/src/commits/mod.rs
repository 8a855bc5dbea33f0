//! Records the changes of commits while they happen, decodes them as far as the interest needs, and keeps them in the commit log.

mod barrier;
pub(crate) mod decode;
mod ids;
pub(crate) mod log;
pub(crate) mod observer;
pub(crate) mod recorder;
pub(crate) mod states;
mod tables;
