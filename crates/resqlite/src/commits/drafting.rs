//! The recorder, as the writer uses it to draw up entries.

use resqlite_sqlite::Connection;

use super::{export::Sealed, recorder::Recorder};
use crate::{
    core::error::Result,
    entries::{Entry, Hash, Operation},
    guard::effects::Effects,
};

impl Recorder {
    /// Whether the main database has virtual tables, which hold back rows; also if that is not known.
    pub(crate) fn has_virtual_tables(&self) -> Result<bool> {
        let has = self.export(|export| Ok(export.has_virtual_tables()));
        Ok(has?.unwrap_or(false))
    }

    /// A statement that may change the schema is about to run.
    pub(crate) fn definition_begins(&self, connection: &Connection) -> Result<()> {
        self.export(|export| export.definition_begins(connection))
            .map(drop)
    }

    /// A statement of this text has run.
    pub(crate) fn ran(&self, connection: &Connection, effects: &Effects, sql: &str) -> Result<()> {
        self.export(|export| export.ran(connection, effects, sql))
            .map(drop)
    }

    /// The open transaction does something that no entry can carry.
    pub(crate) fn refuse(&self, reason: &str) -> Result<()> {
        self.export(|export| {
            export.refuse(reason.into());
            Ok(())
        })
        .map(drop)
    }

    /// Ends the entry of the open transaction.
    pub(crate) fn seal(&self, connection: &Connection) -> Result<Sealed> {
        let sealed = self.export(|export| export.seal(connection));
        Ok(sealed?.unwrap_or(Sealed::Unchanged))
    }

    /// The entry, after [`seal`](Self::seal).
    pub(crate) fn entry(&self, position: u64, previous: Hash) -> Result<Option<Entry>> {
        self.export(|export| Ok(export.draft.entry(position, previous)))
    }

    /// Whether something has changed after [`seal`](Self::seal).
    pub(crate) fn is_late(&self) -> Result<bool> {
        Ok(self.export(|export| Ok(export.is_late()))?.unwrap_or(false))
    }

    /// Whether exactly this operation was recorded since the last call; `None` if none was.
    pub(crate) fn recorded(&self, expected: &Operation<'_>) -> Result<Option<bool>> {
        Ok(self.export(|export| export.recorded(expected))?.flatten())
    }

    /// Whether rows of SQLite's own tables are recorded: when an entry is applied.
    pub(crate) fn set_verbatim(&self, verbatim: bool) -> Result<()> {
        self.export(|export| {
            export.set_verbatim(verbatim);
            Ok(())
        })
        .map(drop)
    }

    /// The writer writes to tables of resqlite's own, or has done so.
    pub(crate) fn set_writes_own(&self, is_so: bool) -> Result<()> {
        self.export(|export| {
            export.set_writes_own(is_so);
            Ok(())
        })
        .map(drop)
    }

    /// Rows of tables that are being made are no error, or are again.
    pub(crate) fn define_freely(&self, is_so: bool) -> Result<()> {
        self.export(|export| {
            export.define_freely(is_so);
            Ok(())
        })
        .map(drop)
    }

    /// The transaction ends: from now on only its position may change.
    pub(crate) fn close(&self) -> Result<()> {
        self.export(|export| {
            export.close();
            Ok(())
        })
        .map(drop)
    }
}
