//! Requests and replies as frames of bytes. Numbers are little-endian; every frame starts at a multiple of 8.
//!
//! ```text
//! request:  0 u32 size · 4 u8 op   · 5 u8 flags · 8 u32 request · 12 u32 target   · 16 payload
//! reply:    0 u32 size · 4 u8 kind · 5 u8 flags · 8 u32 request · 12 u32 argument · 16 payload
//! ```

use std::{ops::Range, sync::Arc};

use resqlite::Params;

use crate::protocol::{FRAME_HEADER, Op, ReplyFlags, ReplyKind, RequestFlags};

/// A request frame that was read.
pub(crate) struct Request<'a> {
    pub(crate) op: Op,
    pub(crate) flags: RequestFlags,
    pub(crate) id: u32,
    pub(crate) target: u32,
    /// All frames of the tick, and the position of this frame's payload in them.
    bytes: &'a Arc<[u8]>,
    payload: Range<usize>,
}

/// Splits a buffer into request frames; `None` in place of a malformed one.
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
    if size < FRAME_HEADER || end > bytes.len() {
        return None;
    }
    Some(Request {
        op: Op::from_byte(bytes[at + 4])?,
        flags: RequestFlags(bytes[at + 5]),
        id: word(bytes, at + 8)?,
        target: word(bytes, at + 12)?,
        bytes,
        payload: at + FRAME_HEADER..end,
    })
}

impl Request<'_> {
    /// Returns a `u32` of the payload; 0 past the end of the payload.
    pub(crate) fn word(&self, offset: usize) -> u32 {
        word(&self.bytes[..self.payload.end], self.payload.start + offset).unwrap_or(0)
    }

    /// Returns an `f64` of the payload; 0 past the end of the payload.
    pub(crate) fn double(&self, offset: usize) -> f64 {
        let at = self.payload.start + offset;
        let bytes = self.bytes[..self.payload.end]
            .get(at..)
            .and_then(|rest| rest.first_chunk::<8>());
        bytes.map_or(0.0, |bytes| f64::from_le_bytes(*bytes))
    }

    /// The text that follows a `u32` length.
    pub(crate) fn text(&self, offset: usize) -> Option<&str> {
        std::str::from_utf8(self.bytes(offset)?).ok()
    }

    /// The bytes that follow a `u32` length.
    pub(crate) fn bytes(&self, offset: usize) -> Option<&[u8]> {
        let start = self.payload.start + offset + 4;
        let end = start.checked_add(self.word(offset) as usize)?;
        self.bytes[..self.payload.end].get(start..end)
    }

    /// The parameters from `offset` to the end of the payload. They share the buffer of the frames.
    pub(crate) fn params(&self, offset: usize) -> Params {
        let start = self.payload.start + offset;
        Params::packed(
            Arc::clone(self.bytes),
            start.min(self.payload.end)..self.payload.end,
        )
    }

    /// The parameters in `length` bytes from `offset` on.
    pub(crate) fn params_of_length(&self, offset: usize, length: usize) -> Params {
        let start = (self.payload.start + offset).min(self.payload.end);
        Params::packed(Arc::clone(self.bytes), start..start + length)
    }

    pub(crate) fn has(&self, flag: RequestFlags) -> bool {
        self.flags.has(flag)
    }
}

/// Returns the `u32` at a position.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|bytes| u32::from_le_bytes(*bytes))
}

/// The header of a reply frame.
#[derive(Clone, Copy)]
pub(crate) struct ReplyHeader {
    pub(crate) kind: ReplyKind,
    pub(crate) flags: ReplyFlags,
    pub(crate) request: u32,
    pub(crate) argument: u32,
}

/// Returns the end of a reply frame, and its header; `None` after the last frame.
pub(crate) fn read_reply(frames: &[u8], at: usize) -> Option<(usize, ReplyHeader)> {
    let size = word(frames, at)? as usize;
    let header = ReplyHeader {
        kind: ReplyKind::from_byte(frames[at + 4])?,
        flags: ReplyFlags(frames[at + 5]),
        request: word(frames, at + 8)?,
        argument: word(frames, at + 12)?,
    };
    Some((at + size, header))
}

/// Appends a reply frame with room for `length` bytes of payload, which `fill` writes.
pub(crate) fn write(out: &mut Vec<u8>, header: &ReplyHeader, length: usize, fill: impl FnOnce(&mut [u8])) {
    let start = out.len();
    let size = (FRAME_HEADER + length).next_multiple_of(8);
    out.resize(start + size, 0);
    let frame = &mut out[start..];
    frame[0..4].copy_from_slice(&(size as u32).to_le_bytes());
    frame[4] = header.kind as u8;
    frame[5] = header.flags.0;
    frame[8..12].copy_from_slice(&header.request.to_le_bytes());
    frame[12..16].copy_from_slice(&header.argument.to_le_bytes());
    fill(&mut frame[FRAME_HEADER..FRAME_HEADER + length]);
}
