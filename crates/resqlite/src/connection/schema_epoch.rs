//! The meaning of names, with all the counts of its changes in one place.
//!
//! Only the writer changes the meaning of names, or learns first that another process has changed it. The writer then advances the
//! [`SchemaEpoch`]; every other connection follows before its next read.
//!
//! ```text
//! the writer                                   SchemaEpoch           a connection, before it reads
//!
//! commits a change of a schema  ─────────────► names + 1       ────► forgets its statements, reads every schema
//! has attached or detached something  ───────► attached + 1    ────► attaches what the writer has
//! has changed the key  ──────────────────────► keys + 1        ────► takes the new key
//! commits what ANALYZE found  ───────────────► statistics + 1  ────► forgets the schemas, and reads them again
//!    then the commit gets its number
//!
//! at BEGIN: the schema versions differ  ─────► names + 1             another process changed a schema
//! when asked: the data versions differ  ─────► names + 1             another process committed
//!
//! a connection:    current ── the epoch advances ──► outdated ── follow() ──► current
//! ```
//!
//! **The order is the invariant.** The writer advances the epoch *before* the commit log numbers the commit. A reader loads the number of
//! the newest commit *before* it follows the epoch. So a reader that knows of a commit also knows what names have meant since then.
//!
//! **Why SQLite does not do this alone.** SQLite re-prepares a statement when a schema that the statement uses has changed. With several
//! schemas, a name can come to mean a table of a schema that the statement does not use. Also, statistics change plans although the
//! schema is the same.
//!
//! The versions are SQLite's own counts ([`Versions`](super::versions::Versions)). Two more things depend on them and on
//! the epoch. A statement knows how often SQLite had re-prepared it when its columns and its program were analysed, and
//! under which schema versions its dependencies were found ([`Prepared`](super::prepared::Prepared)). The commit log knows
//! whether the state is settled (`Commits::settled`), for readers that must read from several databases at one commit.

use resqlite_sqlite::Connection;

use super::{
    attachments,
    engine_connection::EngineConnection,
    schemas::{attached, touch_all},
    unfit,
};
use crate::core::{
    error::{Error, Result},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
        lock,
    },
};

/// The meaning of names on the writer's connection, for the other connections to follow.
#[derive(Default)]
pub(crate) struct SchemaEpoch {
    /// The number of times that `attachments` has changed.
    attached: AtomicU64,
    /// The number of times that the key of the main database has changed.
    keys: AtomicU64,
    /// The number of times that names may have come to mean other tables.
    names: AtomicU64,
    /// The number of times that statistics were gathered.
    statistics: AtomicU64,
    /// The databases that the writer has attached: name and file.
    attachments: Mutex<Vec<(String, String)>>,
}

/// The epoch up to which a connection has followed.
#[derive(Default)]
pub(crate) struct SeenEpoch {
    attached: u64,
    keys: u64,
    names: u64,
    statistics: u64,
    /// The names of the databases that the connection has attached.
    attachments: Vec<String>,
}

impl SeenEpoch {
    /// Returns the number of times that names may have come to mean other tables.
    pub(crate) fn names(&self) -> u64 {
        self.names
    }

    /// Returns the names of the databases that the connection has attached.
    pub(crate) fn attachments(&self) -> &[String] {
        &self.attachments
    }
}

impl SchemaEpoch {
    /// Returns whether the writer has attached no database.
    pub(crate) fn has_no_attachments(&self) -> bool {
        lock(&self.attachments).is_empty()
    }

    /// Returns the names of the attached databases.
    pub(crate) fn attached_names(&self) -> Vec<String> {
        lock(&self.attachments)
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Returns the files of the attached databases.
    pub(crate) fn attached_files(&self) -> Vec<String> {
        lock(&self.attachments)
            .iter()
            .map(|(_, file)| file.clone())
            .collect()
    }

    /// Advances the epoch: a schema has changed.
    pub(crate) fn names_changed(&self) {
        self.names.fetch_add(1, Ordering::Release);
    }

    /// Advances the epoch: ANALYZE has run. Other connections would go on planning with the statistics that they read
    /// with the schema.
    pub(crate) fn statistics_changed(&self) {
        self.statistics.fetch_add(1, Ordering::Release);
    }

    /// Advances the epoch: the key of the main database has changed.
    pub(crate) fn key_changed(&self) {
        self.keys.fetch_add(1, Ordering::Release);
    }

    /// Advances the epoch if the writer has attached or detached a database. Detaches databases that readers could not attach.
    ///
    /// # Errors
    /// The name of the database that was detached, and the reason.
    pub(crate) fn publish_attachments(&self, writer: &Connection) -> Result<()> {
        let mut now = attached(writer)?;
        let refused = unfit::detach(writer, &mut now)?;
        let mut attachments = lock(&self.attachments);
        if *attachments != now {
            *attachments = now;
            self.attached.fetch_add(1, Ordering::Release);
        }
        refused.map_or(Ok(()), |reason| Err(Error::Statement(reason)))
    }

    /// Returns the present epoch, for the writer's connection, which never follows.
    pub(crate) fn now(&self) -> SeenEpoch {
        SeenEpoch {
            attached: self.attached.load(Ordering::Acquire),
            keys: self.keys.load(Ordering::Acquire),
            names: self.names.load(Ordering::Acquire),
            statistics: self.statistics.load(Ordering::Acquire),
            attachments: self.attached_names(),
        }
    }

    /// Returns whether a connection is up to date.
    pub(crate) fn is(&self, seen: &SeenEpoch) -> bool {
        seen.keys == self.keys.load(Ordering::Acquire)
            && seen.attached == self.attached.load(Ordering::Acquire)
            && seen.names == self.names.load(Ordering::Acquire)
            && seen.statistics == self.statistics.load(Ordering::Acquire)
    }

    /// Brings a connection up to date, between two reads.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn follow(&self, connection: &mut EngineConnection, seen: &mut SeenEpoch) -> Result<()> {
        let keys = self.keys.load(Ordering::Acquire);
        if seen.keys != keys {
            connection.unlock_again()?;
            seen.keys = keys;
        }
        let attached = self.attached.load(Ordering::Acquire);
        let names = self.names.load(Ordering::Acquire);
        if seen.names != names {
            if seen.attached > 0 {
                reread_schemas(connection)?;
            } else {
                connection.reread_for_reports()?;
            }
            seen.names = names;
        }
        if seen.attached != attached {
            connection.clear();
            let wanted = lock(&self.attachments).clone();
            connection.as_internal(|connection| attachments::replace(connection, &wanted))?;
            seen.attachments = wanted.into_iter().map(|(name, _)| name).collect();
            seen.attached = attached;
        }
        let statistics = self.statistics.load(Ordering::Acquire);
        if seen.statistics != statistics {
            connection.as_internal(Connection::forget_schemas)?;
            seen.statistics = statistics;
        }
        Ok(())
    }
}

/// Forgets statements, and makes SQLite check every schema. If SQLite finds a name in one schema, it does not check the other schemas.
fn reread_schemas(connection: &mut EngineConnection) -> Result<()> {
    connection.clear();
    connection.as_internal(touch_all)
}
