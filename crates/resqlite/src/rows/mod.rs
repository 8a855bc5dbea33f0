//! Rows on their way from SQLite to the caller: packed by column in slices, or written as JSON.

mod fingerprint;
mod json;
mod pack;
mod read;
mod shape;

pub(crate) use fingerprint::fingerprint;
pub(crate) use json::JsonWriter;
pub use pack::{Integers, Slice};
pub(crate) use pack::{Kind, Packer};
pub use read::{Row, Rows};
pub use shape::Shape;
