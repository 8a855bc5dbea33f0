//! What everything here speaks of: the seam, options, errors, results.

pub(crate) mod codes;
pub(crate) mod deadline;
pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod log;
pub(crate) mod options;
pub(crate) mod written;
