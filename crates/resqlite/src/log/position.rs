//! The position of the database in the log of entries: in a table, so that it changes with what the entries change.

use resqlite_sqlite::ValueRef;

use super::client::Work;
use crate::{
    core::{
        error::{EntryFault, Error, Result},
        names::POSITION_TABLE,
        options::Durability,
        position::Position,
    },
    entries::{EntryBase, Hash, Head},
};

impl Work<'_> {
    /// Makes the table of the position in the open transaction, if it is missing.
    pub(super) fn make_position_table(&mut self) -> Result<()> {
        let found =
            "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = '_resqlite_position'";
        if self.writing.connection.internal(found)? == Some(1) {
            return Ok(());
        }
        let make = format!(
            "CREATE TABLE main.{POSITION_TABLE}(id INTEGER PRIMARY KEY CHECK (id = 1), position INTEGER NOT NULL, \
             hash BLOB NOT NULL);
             INSERT INTO main.{POSITION_TABLE} VALUES (1, 0, zeroblob(32))"
        );
        self.make_own_tables(&make)
    }

    /// Returns the head. If there is no table, it is the head before the first entry.
    pub(super) fn head_now(&mut self) -> Result<Head> {
        match self.read_head() {
            Err(Error::Sqlite(_)) => Ok(Head::default()),
            read => read,
        }
    }

    pub(super) fn read_head(&mut self) -> Result<Head> {
        let sql = "SELECT position, hash FROM main._resqlite_position WHERE id = 1";
        let head = self.own_row(sql, &[], |row| match (row.column(0), row.column(1)) {
            (ValueRef::Integer(position), ValueRef::Blob(hash)) => Some(Head {
                position: Position(position.try_into().ok()?),
                hash: Hash(hash.try_into().ok()?),
            }),
            _ => None,
        })?;
        head.flatten().ok_or_else(|| {
            let message = format!("{POSITION_TABLE} does not hold what resqlite has written there");
            Error::entry(EntryFault::NotCarried, message)
        })
    }

    /// Returns the head of the database. If there is a `base`, first sets it as what the first entry follows.
    pub(super) fn head(&mut self, base: Option<EntryBase>) -> Result<Head> {
        self.end_apply();
        match base {
            Some(base) => self.set_base(base),
            None => self.head_now(),
        }
    }

    /// Sets the base, unless the database already has a base of its own, which stays.
    fn set_base(&mut self, base: EntryBase) -> Result<Head> {
        let set = self.transact(Durability::Full, |work| {
            Ok((work.base_in_transaction(base)?, None))
        });
        set.map(|(head, _)| head)
    }

    fn base_in_transaction(&mut self, base: EntryBase) -> Result<Head> {
        self.make_position_table()?;
        let now = self.read_head()?;
        if now.position > Position(0) {
            let message = format!(
                "the database has entries up to the position {} already: what the first one follows stays",
                now.position
            );
            return Err(Error::entry(EntryFault::Position, message));
        }
        let hash = match base {
            EntryBase::Empty => Hash::default(),
            EntryBase::Own if now.hash != Hash::default() => now.hash,
            EntryBase::Own => Hash(resqlite_sqlite::random()),
        };
        let set = Head {
            position: Position(0),
            hash,
        };
        self.write_head(set).map(|()| set)
    }

    pub(super) fn write_head(&mut self, head: Head) -> Result<()> {
        let sql = "UPDATE main._resqlite_position SET position = ?1, hash = ?2 WHERE id = 1";
        self.own::<0>(sql, &[integer(head.position), ValueRef::Blob(&head.hash.0)])
            .map(drop)
    }
}

/// Returns the integer by which SQLite knows a position.
pub(super) fn integer(position: Position) -> ValueRef<'static> {
    ValueRef::Integer(i64::try_from(position.0).unwrap_or(i64::MAX))
}
