//! The engine's answers, written as frames.

use std::{sync::Arc, time::Duration};

use resqlite::{Error, Outcome, Reply, Result, Shape, Slice, Written};

use crate::{
    errors,
    frames::{ReplyHeader, kind, tell},
    port::Shared,
};

/// Answers one request of a realm.
pub(crate) struct FrameReply {
    pub(crate) shared: Arc<Shared>,
    pub(crate) request: u32,
    /// The transaction, snapshot or cursor that is over when this request fails, or when it gives the last rows.
    pub(crate) session: Option<u32>,
    /// How long it may still wait for the realm to catch up.
    pub(crate) patience: Duration,
}

impl Reply for FrameReply {
    fn rows(&mut self, shape: &Arc<Shape>, slice: &Slice<'_>) -> bool {
        self.shared
            .outbox
            .push_slice(shape, slice, self.request, 0, &mut self.patience)
    }

    fn finish(mut self: Box<Self>, outcome: Result<Outcome<'_>>) {
        match outcome {
            Ok(Outcome::Rows { shape, last, end }) => {
                if end {
                    self.forget_session();
                }
                let flags = tell::LAST | if end { tell::END } else { 0 };
                self.shared
                    .outbox
                    .push_slice(shape, &last, self.request, flags, &mut self.patience);
            }
            Ok(Outcome::Bytes(bytes)) => {
                self.shared
                    .outbox
                    .push_owned(self.header(kind::BYTES, bytes.len()), bytes);
            }
            Ok(Outcome::Written(rows, written)) => {
                for (shape, slice) in rows {
                    self.shared.outbox.push_packed(shape, slice, self.request);
                }
                self.shared
                    .outbox
                    .push(self.header(kind::WRITTEN, 0), &numbers(&written));
            }
            Ok(Outcome::Done) => self.shared.outbox.push(self.header(kind::OK, 0), &[]),
            Err(error) => self.fail(&error),
        }
    }
}

impl FrameReply {
    pub(crate) fn fail(&self, error: &Error) {
        self.forget_session();
        let json = errors::to_json(error);
        self.shared
            .outbox
            .push_owned(self.header(kind::ERROR, json.len()), json);
    }

    pub(crate) fn json(&self, json: Vec<u8>) {
        self.shared
            .outbox
            .push_owned(self.header(kind::JSON, json.len()), json);
    }

    fn header(&self, kind: u8, length: usize) -> ReplyHeader {
        ReplyHeader {
            kind,
            flags: tell::LAST,
            request: self.request,
            aux: length as u32,
        }
    }

    fn forget_session(&self) {
        if let Some(session) = self.session {
            self.shared.forget_session(session);
        }
    }
}

fn numbers(written: &Written) -> [u8; 24] {
    let mut out = [0; 24];
    out[..8].copy_from_slice(&(written.changes as f64).to_le_bytes());
    out[8..16].copy_from_slice(&written.last_insert_rowid.to_le_bytes());
    out[16..].copy_from_slice(&(written.commit as f64).to_le_bytes());
    out
}
