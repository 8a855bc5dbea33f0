//! The databases that the writer has attached, for the readers to do the same.

use std::sync::atomic::{AtomicU64, Ordering};

use resqlite_sqlite::Connection;

use crate::{
    connection::{
        engine_connection::Statements,
        schemas::{attached, quoted, touch_all},
        unfit,
    },
    core::{
        error::{Error, Result},
        sync::{Mutex, lock},
    },
};

/// What the writer has attached.
#[derive(Default)]
pub(crate) struct Attachments {
    version: AtomicU64,
    /// How often names may have come to mean other tables.
    names: AtomicU64,
    /// How often statistics were gathered.
    statistics: AtomicU64,
    list: Mutex<Vec<(String, String)>>,
}

impl Attachments {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.list).is_empty()
    }

    /// The names of the attached databases.
    pub(crate) fn names(&self) -> Vec<String> {
        lock(&self.list).iter().map(|(name, _)| name.clone()).collect()
    }

    /// The files of the attached databases.
    pub(crate) fn files(&self) -> Vec<String> {
        lock(&self.list).iter().map(|(_, file)| file.clone()).collect()
    }

    /// The schema has changed. With several schemas a name can mean another table now, of which SQLite takes no notice
    /// in a statement whose own schemas are as they were.
    pub(crate) fn names_changed(&self) {
        self.names.fetch_add(1, Ordering::Release);
    }

    /// ANALYZE has run. Other connections go on planning with the statistics that they read with the schema, which
    /// for SQLite is as it was.
    pub(crate) fn statistics_changed(&self) {
        self.statistics.fetch_add(1, Ordering::Release);
    }

    /// The writer may have attached or detached something. What readers could not follow is detached again.
    ///
    /// # Errors
    /// Says what was detached, and why.
    pub(crate) fn publish_if_changed(&self, writer: &Connection) -> Result<()> {
        let mut now = attached(writer)?;
        let refused = unfit::detach(writer, &mut now)?;
        let mut list = lock(&self.list);
        if *list != now {
            *list = now;
            self.version.fetch_add(1, Ordering::Release);
        }
        refused.map_or(Ok(()), |reason| Err(Error::Statement(reason)))
    }

    /// Forgets statements, and makes SQLite look whether its idea of each schema is old: for a name that it finds in
    /// one schema it does not look into the others.
    fn read_schemas_anew(reader: &mut Statements) -> Result<()> {
        reader.clear();
        let guard = reader.guard.clone();
        guard.internally(|| touch_all(&reader.connection))
    }

    /// Attaches and detaches on a reader, between two reads, what the writer has since `seen`.
    pub(crate) fn bring_up_to_date(&self, reader: &mut Statements, seen: &mut Seen) -> Result<()> {
        let current = self.version.load(Ordering::Acquire);
        let names = self.names.load(Ordering::Acquire);
        if seen.names != names {
            if seen.version > 0 {
                Self::read_schemas_anew(reader)?;
            }
            seen.names = names;
        }
        if seen.version != current {
            self.attach_anew(reader)?;
            seen.version = current;
        }
        let statistics = self.statistics.load(Ordering::Acquire);
        if seen.statistics != statistics {
            let guard = reader.guard.clone();
            guard.internally(|| reader.connection.forget_schemas())?;
            seen.statistics = statistics;
        }
        Ok(())
    }

    fn attach_anew(&self, reader: &mut Statements) -> Result<()> {
        reader.clear();
        let wanted = lock(&self.list).clone();
        let guard = reader.guard.clone();
        guard.internally(|| -> Result<()> {
            for (name, _) in attached(&reader.connection)? {
                reader
                    .connection
                    .execute_script(&format!("DETACH {}", quoted(&name, '"')))?;
            }
            for (name, file) in &wanted {
                let (file, name) = (quoted(file, '\''), quoted(name, '"'));
                reader
                    .connection
                    .execute_script(&format!("ATTACH {file} AS {name}"))?;
            }
            Ok(())
        })
    }
}

/// What a reader knows of the attached databases.
#[derive(Default)]
pub(crate) struct Seen {
    version: u64,
    names: u64,
    statistics: u64,
}
