//! Entries: the exact changes of commits, for a log that is kept outside this library.

use crate::{
    api::{
        answers::{Done, answer},
        database::Database,
        engine::Engine,
    },
    core::{commit_id::CommitId, error::Result, position::Position},
    entries::{Entry, EntryBase, EntryGate, Head},
    log::LogJob,
    requests::feed::FeedRequest,
};

impl Engine {
    /// Installs an entry gate in place of the previous one. With `None`, removes the gate.
    pub fn set_entry_gate(&self, gate: Option<Box<dyn EntryGate>>, done: Done<Head>) {
        self.push(LogJob::Gate { gate, done }.into());
    }

    /// Sets what the first entry follows. The reply is the head.
    pub fn set_entry_base(&self, base: EntryBase, done: Done<Head>) {
        let base = Some(base);
        self.push(LogJob::Head { base, done }.into());
    }

    /// Replies with the head, after everything that was queued for writing before.
    pub fn entry_position(&self, done: Done<Head>) {
        self.push(LogJob::Head { base: None, done }.into());
    }

    /// Forgets the position. The reply is the position that was forgotten.
    pub fn forget_position(&self, done: Done<Position>) {
        let request = FeedRequest::ForgetPosition;
        self.push(LogJob::Feed { request, done }.into());
    }

    /// Applies an entry. The reply is the number of the commit.
    pub fn apply(&self, entry: Entry, done: Done<CommitId>) {
        self.push(LogJob::Apply { entry, done }.into());
    }
}

impl Database {
    /// Installs an entry gate in place of the previous one; with `None`, removes the gate. Every commit from now on goes through the
    /// gate, whichever [`Database`] of this file in this process makes the commit. Returns the [`Head`] of the database. The database
    /// keeps its head in a table, `_resqlite_position`. See [`Entry`](crate::log::Entry) for an example.
    ///
    /// While there is a gate, changes that no entry can carry are refused with [`EntryFault::NotCarried`](crate::EntryFault::NotCarried):
    /// ATTACH; VACUUM, except INTO; scripts with PRAGMA or with transactions of their own; tables whose columns have all three names of
    /// the rowid. Changes to temporary tables are not carried.
    ///
    /// Only this process may write to the file, and only through resqlite: no entry reports what other processes write.
    ///
    /// # Errors
    /// SQLite's; [`EntryFault::NotCarried`](crate::EntryFault::NotCarried) if databases are attached;
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    pub async fn set_entry_gate(&self, gate: Option<Box<dyn EntryGate>>) -> Result<Head> {
        answer(|done| self.engine().set_entry_gate(gate, done)).await
    }

    /// Forgets the position: the content stays, and the next entry is the first one of another log. Returns the position that was
    /// forgotten; 0 if there was none.
    ///
    /// ```
    /// # use resqlite::{Database, Options, log::{EntryGate, Head, Position}};
    /// # struct Numbers;
    /// # impl EntryGate for Numbers {}
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// db.set_entry_gate(Some(Box::new(Numbers))).await?;
    /// db.exec("CREATE TABLE t(a)").await?;
    /// assert_eq!(db.set_entry_gate(None).await?.position, Position(1));
    ///
    /// assert_eq!(db.forget_position().await?, Position(1));
    /// assert_eq!(db.set_entry_gate(None).await?, Head::default());
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) while there is an entry gate, or a change feed; SQLite's;
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    pub async fn forget_position(&self) -> Result<Position> {
        answer(|done| self.engine().forget_position(done)).await
    }

    /// Returns the position of the database in its log of entries: the head is the last entry that was committed or applied.
    ///
    /// ```
    /// # use resqlite::{Database, Options, log::Head};
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// assert_eq!(db.entry_position().await?, Head::default());
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// SQLite's; [`EntryFault::NotCarried`](crate::EntryFault::NotCarried) if the table of the position has other content.
    pub async fn entry_position(&self) -> Result<Head> {
        answer(|done| self.engine().entry_position(done)).await
    }

    /// Sets what the first entry of this database follows, and syncs this to disk. With a base of its own, the entries of this database
    /// follow its present content: a database that began with other content refuses them, with
    /// [`EntryFault::Chain`](crate::EntryFault::Chain). Backups have the same base. Returns the head, whose hash is the base.
    ///
    /// ```
    /// # use resqlite::{Database, Options, log::{EntryBase, Hash}};
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// let head = db.set_entry_base(EntryBase::Own).await?;
    /// assert_ne!(head.hash, Hash::default());
    /// assert_eq!(db.set_entry_base(EntryBase::Own).await?, head);
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`EntryFault::Position`](crate::EntryFault::Position) if the database has entries already; SQLite's.
    pub async fn set_entry_base(&self, base: EntryBase) -> Result<Head> {
        answer(|done| self.engine().set_entry_base(base, done)).await
    }

    /// Applies the entry of another copy of the database, in one transaction with the position: all of the entry, or nothing. The gate is
    /// told of the entry, and not asked. Live queries and commit listeners see the rows that the entry changes. Entries that wait
    /// together are applied in one commit; if one of them fails, only the entries behind it are affected. Returns the number of the
    /// commit.
    ///
    /// This copy must have begun as the other database was at its first entry: empty, or as a backup of it. If the other database began
    /// with content, [`set_entry_base`](Self::set_entry_base) lets its entries say so. The functions and collations that the schema uses
    /// must be the same. Nothing else may write to this copy: otherwise rows of entries would not fit any more.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # use resqlite::{Database, Options, log::{Entry, EntryGate}};
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
    /// [`Error::Entry`](crate::Error::Entry): with [`EntryFault::Position`](crate::EntryFault::Position) if the entry is not the next
    /// one, [`EntryFault::Chain`](crate::EntryFault::Chain) if it follows an entry other than the last one here,
    /// [`EntryFault::Row`](crate::EntryFault::Row) if a row is not as the entry says. SQLite's.
    pub async fn apply(&self, entry: Entry) -> Result<CommitId> {
        answer(|done| self.engine().apply(entry, done)).await
    }
}
