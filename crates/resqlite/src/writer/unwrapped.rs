//! SQL that runs as it is written, outside of resqlite's transactions, because it manages transactions or the connection
//! itself.

use super::{Writer, classify, reply::Done, unit::Sharing};
use crate::{
    connection::{encryption::refuse_urls_with_keys, open::end_script},
    core::{
        commit_id::CommitId,
        error::{Error, Result},
    },
    guard::pragmas::Asker,
    requests::request::{Write, WriteOp},
};

/// Refuses keys in SQL, because SQL is seen in many places. Besides, readers would not get the key of an ATTACH.
fn refuse_keys(op: &WriteOp) -> Result<()> {
    let (WriteOp::Script(sql) | WriteOp::Execute { sql, .. } | WriteOp::Query { sql, .. }) = op else {
        return Ok(());
    };
    if let WriteOp::Execute { params, .. } | WriteOp::Query { params, .. } = op {
        refuse_urls_with_keys(params)?;
    }
    if !classify::has_key(sql) {
        return Ok(());
    }
    let message = "a key in SQL is refused: an attached database has the key of the main one, and VACUUM INTO takes a URL \
                   with a key as a bound parameter";
    Err(Error::Statement(message.into()))
}

impl Writer {
    /// Runs SQL that manages transactions or the connection itself, as it is written.
    pub(super) fn run_unwrapped(&mut self, write: &Write) -> Result<(Done, CommitId)> {
        self.writing.context.location.health.check()?;
        refuse_keys(&write.op)?;
        self.writing.commits.script_begins();
        self.writing.set_synchronous(write.durability)?;
        self.writing.recorder.begin(&self.writing.commits);
        self.writing.connection.sqlite.set_last_insert_rowid(0);
        let guard = self.writing.connection.guard.clone();
        guard.interrupt.start_waiting(Vec::new(), write.op.sql().cloned());
        guard.interrupt.start(&write.token);
        let done = match &write.op {
            // Tables are read first: if a transaction of the script began by reading, SQLite would not wait for a lock when it
            // writes.
            WriteOp::Script(script) => self
                .writing
                .know_tables()
                .and_then(|()| guard.authorizer.unwrapped(Asker::Script, || self.script(script))),
            _ => guard
                .authorizer
                .unwrapped(Asker::Statement, || self.run(write, Sharing::Alone)),
        };
        guard.interrupt.stop();
        guard.interrupt.stop_waiting();
        self.writing.context.counters.note_sync(&done);
        let left_open = !self.writing.connection.sqlite.is_autocommit();
        if left_open {
            self.writing.roll_back();
        }
        let ended = self.end_script();
        self.settle_unwrapped()?;
        ended?;
        self.writing.look_after_files(true)?;
        let done = done.map_err(|error| self.writing.connection.explain_error(error))?;
        if left_open {
            let message = "the SQL left a transaction open, which was rolled back; use transaction or begin";
            return Err(Error::transaction("execute", message));
        }
        Ok((done, self.writing.commits.last_id()))
    }

    /// Resets the PRAGMAs that a script has set.
    fn end_script(&self) -> Result<()> {
        let guard = &self.writing.connection.guard;
        if guard.authorizer.take_script_has_set() {
            self.writing
                .connection
                .as_internal(|connection| end_script(connection, &self.writing.context.settings))?;
        }
        Ok(())
    }

    /// Brings everything up to date after the SQL. It may have committed several times, reorganised the file or attached another.
    /// So the log says "everything", and every connection forgets its statements, because some were allowed only here.
    fn settle_unwrapped(&mut self) -> Result<()> {
        self.writing.connection.clear();
        // Readers must know what names mean before they know of the commit.
        self.writing.context.epoch.names_changed();
        if std::mem::take(&mut self.writing.touched.statistics) {
            self.writing.context.epoch.statistics_changed();
        }
        let published = self
            .writing
            .connection
            .as_internal(|connection| self.writing.context.epoch.publish_attachments(connection));
        self.writing.recorder.everything_changed();
        self.writing.recorder.commit(&self.writing.commits, true, None);
        self.writing
            .files
            .attach(&self.writing.context.epoch.attached_files());
        published
    }
}
