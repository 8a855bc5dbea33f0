//! The entry that stands in the log in place of more bytes than the log takes. It holds the number of the bytes, the size of
//! their parts, and their hash. The bytes are kept beside the log in parts of the same size.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use resqlite::log::Position;
use sha2::{Digest, Sha256};

use super::bytes::{In, Out};
use crate::core::{limits::PIECE_BYTES, log::Part};

const MAGIC: &[u8; 4] = b"rqp\x01";
/// A number of bytes that is larger than the largest entry of the engine with its envelope.
const BYTES_MAX: usize = resqlite::limits::ENTRY_BYTES_MAX + (16 << 20);

/// The parts that together are the bytes at a position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    position: Position,
    bytes: usize,
    /// The bytes of each part except the last.
    size: usize,
    hash: [u8; 32],
}

impl Parts {
    /// Takes these bytes apart, for a log that takes at most `limit` bytes at once.
    pub(crate) fn of(position: Position, bytes: &Bytes, limit: usize) -> Self {
        Self {
            position,
            bytes: bytes.len(),
            size: limit.clamp(1, PIECE_BYTES),
            hash: Sha256::digest(bytes).into(),
        }
    }

    /// Returns the bytes that stand in the log in place of the parts.
    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut out = Out(MAGIC.to_vec());
        out.number(self.bytes as u64);
        out.number(self.size as u64);
        out.0.extend_from_slice(&self.hash);
        out.0.into()
    }

    /// Returns the parts that these bytes stand for, or `None` if the bytes stand for themselves.
    pub(crate) fn from_bytes(position: Position, bytes: &[u8]) -> Option<Self> {
        let mut rest = In(bytes.strip_prefix(MAGIC)?);
        let (bytes, size) = (rest.number()?.try_into().ok()?, rest.number()?.try_into().ok()?);
        let hash = rest.0.try_into().ok()?;
        (bytes <= BYTES_MAX && (1..=PIECE_BYTES).contains(&size)).then_some(Self {
            position,
            bytes,
            size,
            hash,
        })
    }

    /// Returns each part with the range of the bytes that it has. Parts of other bytes have other names.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Part, Range<usize>)> + use<> {
        let (position, end, size) = (self.position, self.bytes, self.size);
        let of = self
            .hash
            .first_chunk()
            .map_or(0, |first| u64::from_le_bytes(*first));
        (0..).zip((0..end).step_by(size)).map(move |(index, start)| {
            let part = Part { position, of, index };
            (part, start..(start + size).min(end))
        })
    }

    /// Puts the parts together in their order. Returns `None` if they are not the parts of these bytes.
    pub(crate) fn join(&self, parts: &[Bytes]) -> Option<Bytes> {
        let mut whole = BytesMut::with_capacity(self.bytes);
        parts.iter().for_each(|part| whole.extend_from_slice(part));
        (Sha256::digest(&whole)[..] == self.hash).then(|| whole.freeze())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{BYTES_MAX, Out, PIECE_BYTES, Parts, Position};

    fn take_apart(bytes: &Bytes, limit: usize) -> (Parts, Vec<Bytes>) {
        let parts = Parts::of(Position(7), bytes, limit);
        let each = parts.each().map(|(_, range)| bytes.slice(range)).collect();
        (parts, each)
    }

    #[test]
    fn parts_make_what_was_taken_apart() {
        for length in [0, 1, 99, 100, 101, 250] {
            let bytes: Bytes = (0..length).map(|byte| byte as u8).collect();
            let (parts, each) = take_apart(&bytes, 100);
            assert_eq!(each.len(), usize::div_ceil(length, 100));
            let read = Parts::from_bytes(Position(7), &parts.to_bytes()).unwrap();
            assert_eq!(read, parts);
            assert_eq!(read.join(&each), Some(bytes));
        }
    }

    #[test]
    fn other_bytes_have_parts_of_other_names() {
        let names = |bytes: &'static [u8]| {
            Parts::of(Position(7), &Bytes::from_static(bytes), 2)
                .each()
                .map(|(part, _)| part)
        };
        assert!(names(b"one").zip(names(b"two")).all(|(one, two)| one != two));
    }

    #[test]
    fn a_part_that_is_damaged_or_missing_is_noticed() {
        let (parts, mut each) = take_apart(&Bytes::from_static(b"abcdef"), 2);
        each[1] = Bytes::from_static(b"xy");
        assert_eq!(parts.join(&each), None);
        each.remove(1);
        assert_eq!(parts.join(&each), None);
    }

    #[test]
    fn bytes_that_say_to_be_larger_than_any_entry_are_not_parts() {
        for (bytes, size) in [(BYTES_MAX + 1, 1), (1, 0), (1, PIECE_BYTES + 1)] {
            let mut out = Out(super::MAGIC.to_vec());
            out.number(bytes as u64);
            out.number(size as u64);
            out.0.extend_from_slice(&[0; 32]);
            assert_eq!(Parts::from_bytes(Position(7), &out.0), None);
        }
        assert_eq!(Parts::from_bytes(Position(7), b"rqc\x01"), None);
    }
}
