//! Results that are read in batches: on a thread of their own, or in a transaction or snapshot.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use super::{
    answers::{CancelOnDrop, batch_reply, query, step_reply},
    handle::Handle,
};
use crate::{
    core::{error::Result, params::Params, token::Token},
    requests::{request::Format, session::Session},
    rows::Rows,
};

/// A result that is read in batches. Dropping it ends it.
pub struct Cursor<'a> {
    source: Source<'a>,
    batch: Option<Rows>,
    /// States that the batch fetched most recently is the last one.
    last: bool,
}

enum Source<'a> {
    /// A session of its own.
    Own { session: Session, _handle: Arc<Handle> },
    /// A session that may have several cursors, and the number of this cursor.
    Shared(&'a Session, u32),
}

/// The numbers of cursors in transactions and snapshots.
static NUMBERS: AtomicU32 = AtomicU32::new(0);

impl Cursor<'static> {
    /// Makes a cursor. `first` is the first batch, and whether that batch is the last.
    pub(super) fn new(session: Session, first: (Rows, bool), handle: &Arc<Handle>) -> Self {
        Self {
            source: Source::Own {
                session,
                _handle: Arc::clone(handle),
            },
            batch: Some(first.0),
            last: first.1,
        }
    }
}

impl<'a> Cursor<'a> {
    /// Opens a cursor in a transaction or snapshot.
    pub(super) async fn open_in(
        session: &'a Session,
        sql: &str,
        params: Params,
        batch_rows: usize,
    ) -> Result<Self> {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let query = query(sql, params, Format::Rows);
        let _cancel = CancelOnDrop(query.token.clone());
        // The cursor exists from here on, so that it is closed even if nobody waits for it to open.
        let mut cursor = Self {
            source: Source::Shared(session, number),
            batch: None,
            last: false,
        };
        let (reply, first) = batch_reply();
        session.open_cursor(number, query, batch_rows, reply);
        let (batch, last) = first.await?;
        cursor.batch = Some(batch);
        cursor.last = last;
        Ok(cursor)
    }

    /// Returns the next batch; `None` at the end.
    ///
    /// # Errors
    /// SQLite's errors while it reads on. In a transaction: `SQLITE_ABORT_ROLLBACK` if the transaction rolled back to a savepoint at
    /// which the schema was a different one.
    pub async fn next_batch(&mut self) -> Result<Option<Rows>> {
        if let Some(batch) = self.batch.take() {
            return Ok((!batch.is_empty()).then_some(batch));
        }
        if self.last {
            return Ok(None);
        }
        let (reply, done) = batch_reply();
        let token = Token::default();
        let _cancel = CancelOnDrop(token.clone());
        match &self.source {
            Source::Own { session, .. } => session.fetch(reply),
            Source::Shared(session, number) => session.fetch_from(*number, token, reply),
        }
        let (batch, last) = done.await?;
        self.last = last;
        Ok((!batch.is_empty()).then_some(batch))
    }
}

impl Drop for Source<'_> {
    fn drop(&mut self) {
        if let Self::Shared(session, number) = self {
            session.close_cursor(*number, step_reply().0);
        }
    }
}
