//! One statement of any kind: a reader runs it if it only reads.

use super::reading::Reader;
use crate::requests::request::{Query, ReplyGuard};

/// One statement of any kind.
pub(crate) struct AnyStatement {
    pub(crate) query: Query,
    pub(crate) reply: ReplyGuard,
    /// Takes over a statement that turned out to write.
    pub(crate) writer: Box<dyn FnOnce(Query, ReplyGuard) + Send>,
}

impl AnyStatement {
    /// Runs the statement. `ends_read`: a read transaction was begun for it.
    pub(super) fn run(self, reader: &mut Reader, ends_read: bool) {
        let Self { query, reply, writer } = self;
        let commit = reader.includes();
        if let Err((reply, _)) = reader.connection.query(&query, commit, reply, ends_read) {
            writer(query, reply);
        }
    }
}
