//! A read that begins in a write transaction and goes on after its COMMIT, in the state that the commit has made.
//!
//! ```text
//!                 BEGIN … COMMIT     re-runs     BEGIN … COMMIT             the writer leaves
//! read lock      ├───────────────────────────────────────────── … ─────────┤
//! write lock      ├────────────┤                ├────────────┤
//! ```
//!
//! SQLite locks the write-ahead log anew for each transaction: six system calls for a transaction that writes, four for one that reads a
//! state that nobody has read before. While a statement is on a row, COMMIT leaves the read lock as it is. The next transaction that
//! reads then needs no lock. The next transaction that writes needs only the write lock, which takes two calls.
//!
//! The state becomes old if another process commits. BEGIN IMMEDIATE then fails, and does not wait for locks either. In that case,
//! release the read and begin again.
//!
//! The lock protects the state at which the read began, and this state does not move with our own commits. While the lock is held, nobody
//! can reset the log, nor copy the log beyond that state into the database file. So a new read begins after some writes.
//!
//! A connection for quick queries also holds a read, without a transaction: see [`reader::inline`](crate::reader).

use resqlite_sqlite::{Connection, Statement};

use crate::{
    core::{
        error::{Error, Result},
        limits,
    },
    guard::Guard,
};

/// A statement that reads the database and has a row on which it can stay.
const ONE_ROW: &str = "PRAGMA main.schema_version";

/// The read that a connection holds, if it does.
#[derive(Default)]
pub(super) struct HeldRead {
    /// The statement, which is on a row while the read is held.
    statement: Option<Statement>,
    is_held: bool,
    /// The number of writes since the read was last released for being old.
    writes: u32,
}

impl HeldRead {
    /// See [`hold_read`](super::engine_connection::EngineConnection::hold_read).
    pub(super) fn hold(&mut self, sqlite: &Connection, guard: &Guard) -> Result<i64> {
        guard.as_internal(|| {
            let statement = match &mut self.statement {
                Some(statement) => statement,
                none => {
                    let prepared = sqlite.prepare(ONE_ROW, true)?.statement;
                    let no_statement = || Error::Statement(format!("{ONE_ROW:?} is no statement"));
                    none.insert(prepared.ok_or_else(no_statement)?)
                }
            };
            let stepped = statement.step();
            self.is_held = matches!(stepped, Ok(true));
            self.writes += 1;
            if !self.is_held {
                statement.reset();
            }
            let version = stepped.map(|_| statement.integer(0))?;
            Ok(version.unwrap_or_default())
        })
    }

    /// Releases the read if its state may be many writes old.
    pub(super) fn release_if_old(&mut self) {
        if self.writes >= limits::HELD_READ_WRITES {
            self.release();
            self.writes = 0;
        }
    }

    /// See [`release_read`](super::engine_connection::EngineConnection::release_read).
    pub(super) fn release(&mut self) -> bool {
        let was_held = std::mem::take(&mut self.is_held);
        if was_held && let Some(statement) = &mut self.statement {
            statement.reset();
        }
        was_held
    }
}

#[cfg(test)]
mod tests {
    use resqlite_sqlite::codes;

    use crate::{
        connection::{engine_connection::EngineConnection, location::Location, open::open},
        core::{
            error::Error,
            limits,
            options::{Options, Settings},
        },
        guard::authorizer::Role,
    };

    /// Two connections to one file, as those of two processes.
    struct Two {
        ours: EngineConnection,
        theirs: EngineConnection,
        _folder: tempfile::TempDir,
    }

    const COUNT: &str = "SELECT count(*) FROM t";

    fn connections() -> Two {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let options = Options::default();
        let location = Location::find(path.to_str().unwrap(), &options).unwrap();
        let settings = Settings::decide(&options).unwrap();
        let open = || open(&location, &settings, Role::Writer, |_| {}).unwrap();
        let (mut ours, theirs) = (open(), open());
        ours.internal("CREATE TABLE t(a)").unwrap();
        Two {
            ours,
            theirs,
            _folder: folder,
        }
    }

    fn insert(connection: &mut EngineConnection) {
        connection.internal("INSERT INTO t VALUES (1)").unwrap();
    }

    /// Returns whether the write went on from a read that was held.
    fn insert_and_hold(connection: &mut EngineConnection) -> bool {
        let (begun, was_held) = connection.begin_write();
        begun.unwrap();
        insert(connection);
        connection.hold_read().unwrap();
        connection.internal("COMMIT").unwrap();
        was_held
    }

    fn count(connection: &mut EngineConnection) -> Option<i64> {
        connection.internal(COUNT).unwrap()
    }

    #[test]
    fn it_shows_the_state_of_its_commit_until_it_is_released() {
        let Two {
            mut ours, mut theirs, ..
        } = connections();
        insert_and_hold(&mut ours);
        insert(&mut theirs);
        ours.internal("BEGIN").unwrap();
        assert_eq!(count(&mut ours), Some(1));
        ours.internal("COMMIT").unwrap();
        assert_eq!(
            count(&mut ours),
            Some(1),
            "a transaction that reads does not end it"
        );
        assert!(ours.release_read());
        assert_eq!(count(&mut ours), Some(2));
        assert!(!ours.release_read(), "it is over");
    }

    #[test]
    fn a_write_goes_on_from_it_while_nobody_else_commits() {
        let Two {
            mut ours, mut theirs, ..
        } = connections();
        let went_on = [(); 3].map(|()| insert_and_hold(&mut ours));
        assert_eq!(went_on, [false, true, true]);
        assert_eq!(count(&mut theirs), Some(3));
    }

    #[test]
    fn a_write_begins_again_after_another_commit() {
        let Two {
            mut ours, mut theirs, ..
        } = connections();
        insert_and_hold(&mut ours);
        insert(&mut theirs);
        match ours.begin_write() {
            (Err(Error::Sqlite(error)), true) => assert_eq!(error.code(), codes::BUSY_SNAPSHOT),
            other => panic!("{other:?}"),
        }
        insert_and_hold(&mut ours);
        assert_eq!(count(&mut theirs), Some(3));
    }

    // G101
    #[test]
    fn after_some_writes_a_new_read_begins_so_that_others_can_copy_the_log() {
        use resqlite_sqlite::Checkpoint::Passive;
        let Two { mut ours, theirs, .. } = connections();
        let most = i64::from(limits::HELD_READ_WRITES);
        let went_on = |ours: &mut EngineConnection| (0..3 * most).filter(|_| insert_and_hold(ours)).count();
        assert_eq!(went_on(&mut ours) as i64, 3 * (most - 1));
        let copied = theirs.sqlite.checkpoint("main", Passive).unwrap();
        let (log, copied) = (copied.log.unwrap(), copied.copied.unwrap());
        assert!(copied > log / 2, "{copied} of {log} pages");
    }

    #[test]
    fn the_log_can_be_reset_once_it_is_released() {
        use resqlite_sqlite::Checkpoint::Truncate;
        let Two { mut ours, theirs, .. } = connections();
        insert_and_hold(&mut ours);
        let reset = || {
            let at_once = || theirs.sqlite.checkpoint("main", Truncate).unwrap();
            !theirs.guard.interrupt.without_waiting(at_once).busy
        };
        assert!(!reset());
        ours.release_read();
        assert!(reset());
    }
}
