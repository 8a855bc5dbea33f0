//! The values of a row in an entry.

use std::fmt;

use resqlite_sqlite::ValueRef;

use super::format::{Bytes, Stored};

/// The values of all stored columns of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Image<'a> {
    count: usize,
    bytes: &'a [u8],
    /// The previous image, to which this image refers for values that are the same.
    before: Option<&'a [u8]>,
}

impl<'a> Image<'a> {
    /// Reads `count` values, which may refer to those of the image `before`. Returns `None` if the bytes have another form.
    pub(super) fn read(bytes: &mut Bytes<'a>, count: usize, before: Option<Self>) -> Option<Self> {
        let start = bytes.0;
        for _ in 0..count {
            if matches!(bytes.value()?, Stored::Same) && before.is_none() {
                return None;
            }
        }
        Some(Self {
            count,
            bytes: &start[..start.len() - bytes.0.len()],
            before: before.map(|before| before.bytes),
        })
    }

    /// Returns the values, in the order of
    /// [`EntryTable::columns`](crate::log::EntryTable::columns).
    pub fn values(&self) -> Vec<ValueRef<'a>> {
        let mut bytes = Bytes(self.bytes);
        let mut before = self.before.map(Bytes);
        let value = |_| {
            let old = before.as_mut().and_then(Bytes::value);
            match (bytes.value(), old) {
                (Some(Stored::Value(value)), _) | (Some(Stored::Same), Some(Stored::Value(value))) => value,
                _ => unreachable!("an image is checked when it is read"),
            }
        };
        (0..self.count).map(value).collect()
    }
}

impl fmt::Debug for Image<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values()).finish()
    }
}
