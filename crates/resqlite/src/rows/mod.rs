//! Rows on their way from SQLite to the caller: packed by column in row batches, or written as JSON.

mod batch;
mod fingerprint;
mod json;
mod json_text;
mod layout;
mod read;

pub use batch::{Integers, RowBatch};
pub(crate) use batch::{Kind, Packer};
pub(crate) use fingerprint::fingerprint;
pub(crate) use json::JsonWriter;
pub use layout::ColumnLayout;
pub use read::{Row, Rows};
