//! The engine's reply to a request, written as frames.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use resqlite::{
    Columns, CommitId, Error, Result,
    binding::{ColumnLayout, Outcome, Reply, RowBatch, StatementResult, Written},
    limits,
};

use crate::{
    description, errors,
    frames::{ReplyHeader, word},
    limits::{QUICK, REALM_PATIENCE},
    protocol::{ReplyFlags, ReplyKind},
    realm::Realm,
};

/// Bytes of the result of one statement.
const RESULT_BYTES: usize = 24;

/// Answers one request of a realm. If dropped without an answer, it reports that the thread died.
pub(crate) struct FrameReply {
    realm: Arc<Realm>,
    request: u32,
    /// The session that is over when this request fails, or when it delivers the last rows.
    session: Option<u32>,
    /// The time that the reply may still wait for the realm to catch up.
    patience: Duration,
    /// The time at which the request arrived, if the caller wants to know how long the request waits for a thread.
    asked: Option<Instant>,
    quick: Quick,
    /// Bytes of the rows before the last batch.
    bytes: usize,
    answered: bool,
}

/// The state from which a reply can say whether its query was quick.
#[derive(Clone, Copy)]
enum Quick {
    Unasked,
    Asked,
    /// A thread took the query up at this time.
    Since(Instant),
}

impl Reply for FrameReply {
    fn taken_up(&mut self) {
        if let Quick::Asked = self.quick {
            self.quick = Quick::Since(Instant::now());
        }
        if let Some(asked) = self.asked {
            let waited = u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX);
            let header = ReplyHeader {
                flags: ReplyFlags::NONE,
                ..self.header(ReplyKind::Queued, waited as usize)
            };
            self.realm.outbox.push(header, &[]);
        }
    }

    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.bytes += batch.byte_len();
        self.realm
            .outbox
            .push_rows(layout, batch, self.request, ReplyFlags::NONE, &mut self.patience)
    }

    fn finish(mut self: Box<Self>, outcome: Result<Outcome<'_>>) {
        match outcome {
            Ok(Outcome::Rows { layout, last, end }) => {
                if end {
                    self.forget_session();
                }
                self.answered = true;
                let flags = ReplyFlags::LAST
                    .with(ReplyFlags::END.when(end))
                    .with(ReplyFlags::QUICK.when(self.was_quick(last.byte_len())));
                self.realm
                    .outbox
                    .push_rows(layout, &last, self.request, flags, &mut self.patience);
            }
            Ok(Outcome::Bytes(bytes)) => self.answer_with(ReplyKind::Bytes, bytes),
            Ok(Outcome::Written(rows, written)) => {
                for (layout, batch) in rows {
                    self.realm.outbox.push_packed(layout, batch, self.request);
                }
                self.answer(ReplyKind::Written, &numbers(&written));
            }
            Ok(Outcome::Results(results, commit)) => self.send_results(results, commit),
            Ok(Outcome::Described(description)) => {
                self.answer_with(ReplyKind::Json, description::to_json(description));
            }
            Ok(Outcome::Done) => self.answer(ReplyKind::Ok, &[]),
            Err(error) => self.send_error(&error),
        }
    }
}

impl FrameReply {
    pub(crate) fn new(realm: Arc<Realm>, request: u32) -> Self {
        Self {
            realm,
            request,
            session: None,
            patience: REALM_PATIENCE,
            asked: None,
            quick: Quick::Unasked,
            bytes: 0,
            answered: false,
        }
    }

    /// If `asked` is given, makes the reply report how long the request has waited since then.
    pub(crate) fn timed(mut self, asked: Option<Instant>) -> Self {
        self.asked = asked;
        self
    }

    /// If `tells` is true, makes the reply say whether its query was quick.
    pub(crate) fn tells_quick(mut self, tells: bool) -> Self {
        if tells {
            self.quick = Quick::Asked;
        }
        self
    }

    /// Returns whether the reply is to say that its query was quick. `last` is the number of bytes of the last batch.
    fn was_quick(&self, last: usize) -> bool {
        match self.quick {
            Quick::Since(since) => self.bytes + last <= limits::INLINE_BYTES && since.elapsed() < QUICK,
            _ => false,
        }
    }

    pub(crate) fn in_session(self, session: u32) -> Self {
        let mut reply = self;
        reply.session = Some(session);
        reply
    }

    pub(crate) fn done(mut self) {
        self.answer(ReplyKind::Ok, &[]);
    }

    pub(crate) fn json(mut self, json: Vec<u8>) {
        self.answer_with(ReplyKind::Json, json);
    }

    pub(crate) fn fail(mut self, error: &Error) {
        self.send_error(error);
    }

    /// Fails with an error that is JSON already.
    #[cfg_attr(not(feature = "cluster"), expect(dead_code))]
    pub(crate) fn fail_with(mut self, json: Vec<u8>) {
        self.forget_session();
        self.answer_with(ReplyKind::Error, json);
    }

    /// Answers that a database is open, with the numbers of its handle and its engine.
    pub(crate) fn opened(self, (handle, engine): (u32, u64)) {
        self.json(format!("{{\"handle\":{handle},\"engine\":{engine}}}").into_bytes());
    }

    /// Sends JSON before the answer.
    pub(crate) fn tell(&self, json: &[u8]) {
        let header = ReplyHeader {
            flags: ReplyFlags::NONE,
            ..self.header(ReplyKind::Json, json.len())
        };
        self.realm.outbox.push(header, json);
    }

    pub(crate) fn bytes(mut self, bytes: Vec<u8>) {
        self.answer_with(ReplyKind::Bytes, bytes);
    }

    fn send_error(&mut self, error: &Error) {
        self.forget_session();
        self.answer_with(ReplyKind::Error, errors::to_json(error));
    }

    fn send_results(&mut self, results: &[StatementResult], CommitId(commit): CommitId) {
        let mut payload = Vec::with_capacity(8 + RESULT_BYTES * results.len());
        payload.extend((commit as f64).to_le_bytes());
        for result in results {
            let mut rows = 0;
            for (layout, batch) in &result.rows {
                self.realm.outbox.push_packed(layout, batch, self.request);
                rows += word(batch, 0).unwrap_or(0);
            }
            let (changes, rowid) = (result.changes, result.last_insert_rowid);
            payload.extend(result_bytes(changes, rowid, &result.columns, rows));
        }
        self.answered = true;
        let quick = ReplyFlags::QUICK.when(self.was_quick(0));
        let header = self.header(ReplyKind::Results, results.len());
        let header = ReplyHeader {
            flags: header.flags.with(quick),
            ..header
        };
        let columns = results.iter().map(|result| &*result.columns);
        self.realm.outbox.push_results(columns, header, payload);
    }

    fn answer(&mut self, kind: ReplyKind, payload: &[u8]) {
        self.answered = true;
        self.realm.outbox.push(self.header(kind, 0), payload);
    }

    /// Answers with a payload. The argument of the frame is the length of the payload.
    fn answer_with(&mut self, kind: ReplyKind, payload: Vec<u8>) {
        self.answered = true;
        self.realm
            .outbox
            .push_owned(self.header(kind, payload.len()), payload);
    }

    fn header(&self, kind: ReplyKind, argument: usize) -> ReplyHeader {
        ReplyHeader {
            kind,
            flags: ReplyFlags::LAST,
            request: self.request,
            argument: argument as u32,
        }
    }

    fn forget_session(&self) {
        if let Some(session) = self.session {
            self.realm.sessions.remove(session);
        }
    }
}

impl Drop for FrameReply {
    fn drop(&mut self) {
        if !self.answered {
            self.send_error(&Error::WorkerDied);
        }
    }
}

/// The payload of the reply to a single statement that has only read.
pub(crate) fn result_of_read(CommitId(commit): CommitId, columns: &Columns) -> [u8; 8 + RESULT_BYTES] {
    let mut payload = [0; 8 + RESULT_BYTES];
    payload[..8].copy_from_slice(&(commit as f64).to_le_bytes());
    payload[8..].copy_from_slice(&result_bytes(0, 0, columns, 0));
    payload
}

fn result_bytes(changes: i64, last_insert_rowid: i64, columns: &Columns, rows: u32) -> [u8; RESULT_BYTES] {
    let mut bytes = [0; RESULT_BYTES];
    bytes[..8].copy_from_slice(&(changes as f64).to_le_bytes());
    bytes[8..16].copy_from_slice(&last_insert_rowid.to_le_bytes());
    bytes[16..20].copy_from_slice(&columns.id().to_le_bytes());
    bytes[20..].copy_from_slice(&rows.to_le_bytes());
    bytes
}

fn numbers(written: &Written) -> [u8; 24] {
    let mut out = [0; 24];
    out[..8].copy_from_slice(&(written.changes as f64).to_le_bytes());
    out[8..16].copy_from_slice(&written.last_insert_rowid.to_le_bytes());
    out[16..].copy_from_slice(&(written.commit.0 as f64).to_le_bytes());
    out
}
