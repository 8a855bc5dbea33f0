//! Entries: what commits change, exactly, for a log that somebody else keeps.

use crate::{
    api::{
        answers::{Done, answer},
        database::Database,
        engine::Engine,
    },
    core::error::Result,
    entries::{Entry, EntryGate, Position},
    writer::{ApplyJob, GateJob, WriteJob},
};

impl Engine {
    /// Installs an entry gate, in place of the one before; or none.
    pub fn set_entry_gate(&self, gate: Option<Box<dyn EntryGate>>, done: Done<Position>) {
        self.push(WriteJob::Gate(GateJob { gate, done }));
    }

    /// Applies an entry; answers with the number of the commit.
    pub fn apply(&self, entry: Entry, done: Done<u64>) {
        self.push(WriteJob::Apply(ApplyJob { entry, done }));
    }
}

impl Database {
    /// Installs an entry gate, in place of the one before; or none. Every commit from now on goes through it, whichever
    /// [`Database`] of this file in this process makes it. Returns the position at which the database is, which it keeps in a
    /// table, `_resqlite_position`. See [`Entry`](crate::Entry) for an example.
    ///
    /// While there is a gate, what no entry can carry is refused with
    /// [`EntryFault::NotCarried`](crate::EntryFault::NotCarried): ATTACH; VACUUM, except INTO; scripts with PRAGMA or with
    /// transactions of their own; tables whose columns have all three names of the rowid. Temporary tables are not carried.
    ///
    /// Only this process may write to the file, and only through resqlite: no entry tells what others write.
    ///
    /// # Errors
    /// SQLite's; [`EntryFault::NotCarried`](crate::EntryFault::NotCarried) if databases are attached;
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    pub async fn set_entry_gate(&self, gate: Option<Box<dyn EntryGate>>) -> Result<Position> {
        answer(|done| self.engine().set_entry_gate(gate, done)).await
    }

    /// Applies the entry of another copy of the database, in one transaction with the position: all of it, or nothing. The
    /// gate is told of it, and not asked. Live queries and commit listeners see the rows that it changes. Returns the number
    /// of the commit.
    ///
    /// The copy must have begun as the other database was at its first entry: empty, or as a backup of it. Functions and
    /// collations that its schema uses must be the same. It must not be written to otherwise: rows of entries would not fit any
    /// more.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use resqlite::{Database, Entry, EntryGate, Options, Position};
    /// # struct Feed(mpsc::Sender<Entry>);
    /// # impl EntryGate for Feed {
    /// #     fn committed(&mut self, entry: &Entry) {
    /// #         let _ = self.0.send(entry.clone());
    /// #     }
    /// # }
    /// # pollster::block_on(async {
    /// # let (sender, entries) = mpsc::channel();
    /// # let one = Database::open(":memory:", Options::default()).await?;
    /// # let other = Database::open(":memory:", Options::default()).await?;
    /// one.set_entry_gate(Some(Box::new(Feed(sender)))).await?;
    /// one.exec("CREATE TABLE t(a); INSERT INTO t VALUES (7)").await?;
    ///
    /// other.apply(entries.recv().unwrap()).await?;
    /// assert_eq!(other.select("SELECT a FROM t", ()).await?.len(), 1);
    /// # one.close().await?;
    /// # other.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`Error::Entry`](crate::Error::Entry): with [`EntryFault::Position`](crate::EntryFault::Position) if it is not the next
    /// one, [`EntryFault::Chain`](crate::EntryFault::Chain) if it follows another entry than the last one here,
    /// [`EntryFault::Row`](crate::EntryFault::Row) if a row is not as it says. SQLite's.
    pub async fn apply(&self, entry: Entry) -> Result<u64> {
        answer(|done| self.engine().apply(entry, done)).await
    }
}
