//! Numbers and texts as bytes.

use std::sync::Arc;

use resqlite::Params;

use crate::{core::log::NodeName, protocol::Run};

/// Bytes that are being written.
#[derive(Default)]
pub(super) struct Out(pub(super) Vec<u8>);

impl Out {
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn signed(&mut self, number: i64) {
        self.number(number as u64);
    }

    pub(super) fn sized(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn optional(&mut self, text: Option<&str>) {
        self.byte(u8::from(text.is_some()));
        self.sized(text.unwrap_or_default().as_bytes());
    }

    pub(super) fn run(&mut self, run: &Run) {
        self.sized(run.node.as_str().as_bytes());
        self.number(run.number);
    }
}

/// Bytes that are being read. A method returns `None` if the bytes are something else or too few.
pub(super) struct In<'a>(pub(super) &'a [u8]);

impl<'a> In<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(super) fn signed(&mut self) -> Option<i64> {
        self.number().map(|number| number as i64)
    }

    pub(super) fn sized(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.sized()?).ok()
    }

    pub(super) fn optional(&mut self) -> Option<Option<String>> {
        let is_there = self.byte()? != 0;
        let text = self.text()?;
        Some(is_there.then(|| text.to_owned()))
    }

    /// Reads the number of things that follow. Each takes at least one byte.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    pub(super) fn run(&mut self) -> Option<Run> {
        Some(Run {
            node: NodeName::new(self.text()?)?,
            number: self.number()?,
        })
    }

    pub(super) fn params(&mut self) -> Option<Params> {
        let bytes: Arc<[u8]> = self.sized()?.into();
        let range = 0..bytes.len();
        Some(Params::packed(bytes, range))
    }
    /// Reads parameters whose texts follow them.
    pub(super) fn params_and_texts(&mut self) -> Option<Params> {
        let (values, texts) = (self.sized()?, self.sized()?);
        let bytes: Arc<[u8]> = [values, texts].concat().into();
        let range = 0..bytes.len();
        Some(Params::packed(bytes, range).with_texts_at(values.len()))
    }
}
