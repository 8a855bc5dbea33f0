//! The frames that cross the border. Numbers are little-endian; every frame starts on a multiple of 8.
//!
//! ```text
//! request:  0 u32 size · 4 u8 op   · 5 u8 flags · 8 u32 request · 12 u32 target · 16 payload
//! reply:    0 u32 size · 4 u8 kind · 5 u8 flags · 8 u32 request · 12 u32 aux    · 16 payload
//! ```

use std::{ops::Range, sync::Arc};

/// Bytes of a frame's header.
pub(crate) const HEADER: usize = 16;

/// Operations of request frames.
pub(crate) mod op {
    pub(crate) const DEFINE: u8 = 1;
    pub(crate) const FORGET: u8 = 2;
    pub(crate) const OPEN: u8 = 3;
    pub(crate) const CLOSE: u8 = 4;
    pub(crate) const SELECT: u8 = 5;
    pub(crate) const EXECUTE: u8 = 6;
    pub(crate) const BATCH: u8 = 7;
    pub(crate) const CHUNK: u8 = 8;
    pub(crate) const BATCH_ABORT: u8 = 9;
    pub(crate) const EXEC: u8 = 10;
    pub(crate) const BEGIN: u8 = 11;
    pub(crate) const SAVEPOINT: u8 = 12;
    pub(crate) const RELEASE: u8 = 13;
    pub(crate) const ROLLBACK_TO: u8 = 14;
    pub(crate) const COMMIT: u8 = 15;
    pub(crate) const END: u8 = 16;
    pub(crate) const ENDED: u8 = 17;
    pub(crate) const SNAPSHOT: u8 = 18;
    pub(crate) const CURSOR: u8 = 19;
    pub(crate) const FETCH: u8 = 20;
    pub(crate) const CANCEL: u8 = 21;
    pub(crate) const DIAGNOSTICS: u8 = 22;
    pub(crate) const STREAM: u8 = 23;
    pub(crate) const UNSUBSCRIBE: u8 = 24;
    pub(crate) const EXPLAIN_STREAM: u8 = 25;
}

/// Flags of request frames.
pub(crate) mod ask {
    pub(crate) const INTEGERS: u8 = 0b11;
    pub(crate) const FIRST: u8 = 1 << 2;
    pub(crate) const JSON: u8 = 1 << 3;
    pub(crate) const SESSION: u8 = 1 << 4;
    pub(crate) const FULL: u8 = 1 << 5;
    pub(crate) const MORE: u8 = 1 << 6;
    pub(crate) const LIMITS: u8 = 1 << 7;
}

/// Kinds of reply frames.
pub(crate) mod kind {
    pub(crate) const SHAPE: u8 = 1;
    pub(crate) const ROWS: u8 = 2;
    pub(crate) const WRITTEN: u8 = 3;
    pub(crate) const BYTES: u8 = 4;
    pub(crate) const ERROR: u8 = 5;
    pub(crate) const JSON: u8 = 6;
    pub(crate) const OK: u8 = 7;
    pub(crate) const PATCH: u8 = 8;
    pub(crate) const EMIT: u8 = 9;
}

/// Flags of reply frames.
pub(crate) mod tell {
    /// This settles the request.
    pub(crate) const LAST: u8 = 1;
    /// The cursor has no further rows. On a column list: forget those told before.
    pub(crate) const END: u8 = 1 << 1;
    /// The payload is in a slab.
    pub(crate) const SLAB: u8 = 1 << 2;
    /// The payload is to be taken.
    pub(crate) const OWNED: u8 = 1 << 3;
}

/// A request frame that was read.
pub(crate) struct Request<'a> {
    pub(crate) op: u8,
    pub(crate) flags: u8,
    pub(crate) id: u32,
    pub(crate) target: u32,
    /// All frames of the tick, and where this payload stands in them.
    pub(crate) bytes: &'a Arc<[u8]>,
    pub(crate) payload: Range<usize>,
}

/// Splits a buffer into request frames; `None` in place of a frame that makes no sense.
pub(crate) fn requests(bytes: &Arc<[u8]>) -> impl Iterator<Item = Option<Request<'_>>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let request = read(bytes, at);
        at = request
            .as_ref()
            .map_or(bytes.len(), |request| request.payload.end);
        Some(request)
    })
}

fn read(bytes: &Arc<[u8]>, at: usize) -> Option<Request<'_>> {
    let size = word(bytes, at)? as usize;
    let end = at.checked_add(size)?;
    if size < HEADER || end > bytes.len() {
        return None;
    }
    let (id, target) = (word(bytes, at + 8)?, word(bytes, at + 12)?);
    Some(Request {
        op: bytes[at + 4],
        flags: bytes[at + 5],
        id,
        target,
        bytes,
        payload: at + HEADER..end,
    })
}

impl Request<'_> {
    /// A `u32` of the payload; 0 where there is none.
    pub(crate) fn word(&self, offset: usize) -> u32 {
        word(&self.bytes[..self.payload.end], self.payload.start + offset).unwrap_or(0)
    }

    /// An `f64` of the payload; 0 where there is none.
    pub(crate) fn double(&self, offset: usize) -> f64 {
        let at = self.payload.start + offset;
        let bytes = self.bytes[..self.payload.end]
            .get(at..)
            .and_then(|rest| rest.first_chunk::<8>());
        bytes.map_or(0.0, |bytes| f64::from_le_bytes(*bytes))
    }

    /// The text that follows a `u32` length.
    pub(crate) fn text(&self, offset: usize) -> Option<&str> {
        let start = self.payload.start + offset + 4;
        let end = start.checked_add(self.word(offset) as usize)?;
        std::str::from_utf8(self.bytes[..self.payload.end].get(start..end)?).ok()
    }

    /// The payload from `offset` on, as a part of the shared buffer.
    pub(crate) fn rest(&self, offset: usize) -> Range<usize> {
        (self.payload.start + offset).min(self.payload.end)..self.payload.end
    }

    /// Whether a flag is set.
    pub(crate) fn asks(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A `u32` at a place.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|bytes| u32::from_le_bytes(*bytes))
}

/// The header of a reply frame.
pub(crate) struct ReplyHeader {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) request: u32,
    pub(crate) aux: u32,
}

/// Appends a reply frame with room for `length` bytes of payload, which `fill` writes.
pub(crate) fn write(out: &mut Vec<u8>, header: &ReplyHeader, length: usize, fill: impl FnOnce(&mut [u8])) {
    let start = out.len();
    let size = (HEADER + length).next_multiple_of(8);
    out.resize(start + size, 0);
    let frame = &mut out[start..];
    frame[0..4].copy_from_slice(&(size as u32).to_le_bytes());
    frame[4] = header.kind;
    frame[5] = header.flags;
    frame[8..12].copy_from_slice(&header.request.to_le_bytes());
    frame[12..16].copy_from_slice(&header.aux.to_le_bytes());
    fill(&mut frame[HEADER..HEADER + length]);
}
