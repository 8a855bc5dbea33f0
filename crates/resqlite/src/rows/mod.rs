//! Rows on their way from SQLite to the caller: packed by column in row batches, or written as JSON.

mod batch;
mod columns;
mod fingerprint;
mod json;
mod json_text;
mod layout;
mod read;
mod registry;

pub use batch::{Integers, RowBatch};
pub(crate) use batch::{Kind, Packer};
pub use columns::{Column, Columns};
pub(crate) use fingerprint::fingerprint;
pub(crate) use json::JsonWriter;
pub use layout::{ColumnLayout, Packed};
pub use read::{Row, Rows};
