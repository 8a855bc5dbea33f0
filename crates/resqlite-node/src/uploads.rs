//! Bytes that will be opened as databases.

use std::{collections::HashMap, sync::Mutex};

use crate::sync::lock;

/// Bytes that arrive in pieces, by the number that JavaScript gave them.
#[derive(Default)]
pub(crate) struct Uploads(Mutex<HashMap<u32, Vec<u8>>>);

impl Uploads {
    pub(crate) fn append(&self, number: u32, piece: &[u8]) {
        lock(&self.0).entry(number).or_default().extend_from_slice(piece);
    }

    pub(crate) fn take(&self, number: u32) -> Vec<u8> {
        lock(&self.0).remove(&number).unwrap_or_default()
    }
}
