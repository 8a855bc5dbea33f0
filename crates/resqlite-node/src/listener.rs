//! The emissions of a live query, written as frames.

use std::{sync::Arc, time::Duration};

use resqlite::{
    Error,
    binding::{ColumnLayout, RowBatch},
    live::{Delivery, Emission, Listener, Reason, Segment},
};

use crate::{
    errors,
    frames::ReplyHeader,
    limits::REALM_PATIENCE,
    protocol::{NEW_ROWS, ReplyFlags, ReplyKind},
    realm::Realm,
    stats::reason_number,
};

/// Writes the frames of one live query. When the listener is dropped, no further call can arrive. The request that
/// opened the query is then settled, so that its number can be reused.
pub(crate) struct FrameListener {
    realm: Arc<Realm>,
    request: u32,
    /// The time that the next emission may still wait for the realm to catch up.
    patience: Duration,
    settled: bool,
}

impl FrameListener {
    pub(crate) fn new(realm: Arc<Realm>, request: u32) -> Self {
        Self {
            realm,
            request,
            patience: REALM_PATIENCE,
            settled: false,
        }
    }

    fn header(&self, kind: ReplyKind, flags: ReplyFlags, argument: u32) -> ReplyHeader {
        ReplyHeader {
            kind,
            flags,
            request: self.request,
            argument,
        }
    }
}

impl Listener for FrameListener {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.realm
            .outbox
            .push_rows(layout, batch, self.request, ReplyFlags::NONE, &mut self.patience)
    }

    fn patch(&mut self, part: usize, layout: &Arc<ColumnLayout>, segments: &[Segment]) {
        let header = self.header(ReplyKind::Patch, ReplyFlags::NONE, layout.id());
        self.realm
            .outbox
            .push_patch(layout, header, patch(part, segments));
    }

    fn emit(&mut self, emission: Emission) -> Delivery {
        self.patience = REALM_PATIENCE;
        self.realm.outbox.push(
            self.header(ReplyKind::Emit, ReplyFlags::NONE, 0),
            &numbers(&emission),
        );
        Delivery::Pending
    }

    fn ran_long(&mut self, micros: u64, reason: Option<Reason>) {
        let mut payload = [0; 16];
        payload[..8].copy_from_slice(&(micros as f64).to_le_bytes());
        payload[8..12].copy_from_slice(&reason_number(reason).to_le_bytes());
        let header = self.header(ReplyKind::RanLong, ReplyFlags::NONE, 0);
        self.realm.outbox.push(header, &payload);
    }

    fn discard(&mut self) {
        let header = self.header(ReplyKind::Discard, ReplyFlags::NONE, 0);
        self.realm.outbox.push(header, &[]);
    }

    fn fail(&mut self, error: &Error, ended: bool) -> Delivery {
        self.patience = REALM_PATIENCE;
        self.settled |= ended;
        let json = errors::to_json(error);
        let header = self.header(ReplyKind::Error, ReplyFlags::LAST.when(ended), json.len() as u32);
        self.realm.outbox.push_owned(header, json);
        Delivery::Pending
    }
}

impl Drop for FrameListener {
    fn drop(&mut self) {
        if !self.settled {
            self.realm
                .outbox
                .push(self.header(ReplyKind::Ok, ReplyFlags::LAST, 0), &[]);
        }
    }
}

fn patch(part: usize, segments: &[Segment]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(8 + 8 * segments.len());
    let mut word = |value: u32| payload.extend(value.to_le_bytes());
    word(part as u32);
    word(segments.len() as u32);
    for segment in segments {
        let (start, count) = match *segment {
            Segment::Keep { start, count } => (start, count),
            Segment::New { count } => (NEW_ROWS as u32, count),
        };
        word(start);
        word(count);
    }
    payload
}

fn numbers(emission: &Emission) -> [u8; 24] {
    let mut out = [0; 24];
    out[..8].copy_from_slice(&(emission.commit.0 as f64).to_le_bytes());
    out[8..16].copy_from_slice(&(emission.micros as f64).to_le_bytes());
    out[16..20].copy_from_slice(&reason_number(emission.reason).to_le_bytes());
    out
}
