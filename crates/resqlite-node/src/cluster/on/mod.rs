//! ```text
//! node
//! remote
//! logs · settings
//! errors
//! calls
//! ```

pub(crate) mod calls;
mod errors;
pub(crate) mod logs;
pub(crate) mod node;
#[cfg(feature = "logs")]
mod remote;
mod settings;
