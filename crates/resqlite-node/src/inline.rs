//! Quick reads on the realm's own thread.

use resqlite::binding::{GivenUp, InlineQuery, InlineRows};

use crate::{
    dispatch::{Dispatcher, integers},
    frames::{self, ReplyHeader, Request},
    profile,
    protocol::{Op, ReplyFlags, ReplyKind, RequestFlags},
    reply,
};

impl Dispatcher {
    /// Runs a read now, and appends its reply to `frames`.
    ///
    /// # Errors
    /// The reason why the read did not run; `None` if the request is not a read that may run in this way. Nothing has
    /// happened in either case.
    pub(crate) fn read_inline(
        &self,
        request: &Request<'_>,
        frames: &mut Vec<u8>,
    ) -> Result<(), Option<GivenUp>> {
        let is_read = matches!(request.op, Op::Select | Op::Query);
        let excluded = [RequestFlags::SESSION, RequestFlags::LIMITS, RequestFlags::JSON];
        if !is_read || excluded.into_iter().any(|flag| request.has(flag)) {
            return Err(None);
        }
        let (engine, sql) = (self.realm.engine(request.target), self.sql(request, 0));
        let (engine, sql) = engine.zip(sql).ok_or(None)?;
        let query = InlineQuery {
            sql: &sql,
            params: &request.params(4),
            integers: integers(request),
            first: request.has(RequestFlags::FIRST),
            columns: request.op == Op::Query,
        };
        let done = engine.select_inline(&query, |rows| self.answer_inline(request, &rows, frames));
        if done.is_ok() {
            self.time_next.take();
        }
        done.map_err(Some)
    }

    /// Writes the frames of a reply. Returns `false` if that is not possible now.
    fn answer_inline(&self, request: &Request<'_>, rows: &InlineRows<'_>, frames: &mut Vec<u8>) -> bool {
        let InlineRows {
            layout,
            batch,
            columns,
            commit,
        } = rows;
        if !self.realm.outbox.is_empty_and_knows(layout, columns.as_deref()) {
            return false;
        }
        let header = |kind, flags, argument| ReplyHeader {
            kind,
            flags,
            request: request.id,
            argument,
        };
        if self.time_next.get().is_some() {
            frames::write(frames, &header(ReplyKind::Queued, ReplyFlags::NONE, 0), 0, |_| ());
        }
        let end = ReplyFlags::LAST.with(ReplyFlags::END).when(columns.is_none());
        if columns.is_none() || batch.rows() > 0 {
            let rows = header(ReplyKind::Rows, end, layout.id());
            frames::write(frames, &rows, batch.byte_len(), |out| batch.write(out));
            profile::rows(batch.rows(), layout);
        }
        if let Some(columns) = columns {
            let payload = reply::result_of_read(*commit, columns);
            let results = header(ReplyKind::Results, ReplyFlags::LAST, 1);
            frames::write(frames, &results, payload.len(), |out| {
                out.copy_from_slice(&payload)
            });
        }
        true
    }
}
