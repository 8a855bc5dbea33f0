//! The bytes of operations: their meaning, and the way they are read. They may come from anywhere. So no bytes may cause a panic, or take
//! more memory than the largest entry.

use resqlite_sqlite::ValueRef;

/// The kinds of operations, as bytes.
pub(super) mod tag {
    pub(crate) const TABLE: u8 = 0;
    pub(crate) const INSERT: u8 = 1;
    pub(crate) const UPDATE: u8 = 2;
    pub(crate) const DELETE: u8 = 3;
    pub(crate) const CLEAR: u8 = 4;
    pub(crate) const SQL: u8 = 5;
}

/// The kinds of values, as bytes.
pub(super) mod value {
    pub(crate) const NULL: u8 = 0;
    pub(crate) const INTEGER: u8 = 1;
    pub(crate) const REAL: u8 = 2;
    pub(crate) const TEXT: u8 = 3;
    pub(crate) const BLOB: u8 = 4;
    /// In the second image of an update: the value is the same as in the first image.
    pub(crate) const SAME: u8 = 5;
}

/// The bytes that are left to be read. A method returns `None` if the bytes have another form, or if there are too few.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

/// A value of an image.
pub(super) enum Stored<'a> {
    Value(ValueRef<'a>),
    /// The same value as in the image before.
    Same,
}

impl<'a> Bytes<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn signed(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn sized(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        self.take(length)
    }

    /// Reads a number of items, each of which takes at least one byte.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.unsigned()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.sized()?).ok()
    }

    pub(super) fn value(&mut self) -> Option<Stored<'a>> {
        Some(Stored::Value(match self.byte()? {
            value::NULL => ValueRef::Null,
            value::INTEGER => ValueRef::Integer(self.signed()?),
            value::REAL => {
                let bits = self.take(size_of::<u64>())?.try_into().ok()?;
                ValueRef::Real(f64::from_bits(u64::from_le_bytes(bits)))
            }
            value::TEXT => ValueRef::Text(self.sized()?),
            value::BLOB => ValueRef::Blob(self.sized()?),
            value::SAME => return Some(Stored::Same),
            _ => return None,
        }))
    }
}
