//! The basics that all modules share: the seam, options, errors, results.

pub(crate) mod codes;
pub(crate) mod copies;
pub(crate) mod deadline;
pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod log;
pub(crate) mod options;
pub(crate) mod seal;
pub(crate) mod written;
