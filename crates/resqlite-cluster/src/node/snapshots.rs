//! Copies of the database in the log's store, to begin from.

use std::sync::Arc;

use resqlite::{
    BackupOptions, Database, Value,
    log::{Hash, Position},
};

use super::{Node, asking::beginning, temporary::Temporary};
use crate::{
    core::{
        error::{Error, Result},
        log::LogError,
    },
    protocol::Beginning,
};

/// The writer puts a snapshot when it is due. Other nodes wait longer, by the entries between two snapshots divided by this
/// number, so that not all nodes copy the database at once.
const OTHERS_WAIT: u64 = 8;

impl Node {
    /// Puts a snapshot into the log's store whenever one is due, and lets the log purge what is older than the previous snapshot.
    pub(super) async fn keep_snapshots(self: Arc<Self>, database: Arc<Database>, every: u64) {
        loop {
            let before = self.await_due(every).await;
            match (self.put_snapshot(&database).await, before) {
                (Ok(_), Some(up_to)) => drop(self.log.purge(up_to).await),
                (Ok(_), None) => {}
                // The next try waits, so that the database is not copied for every entry.
                (Err(_), _) => {
                    let at = *self.applied.borrow();
                    self.await_applied(at + every).await;
                }
            }
        }
    }

    /// Waits until the newest snapshot of the log is `every` entries old, whichever node has put it. Returns its position.
    async fn await_due(self: &Arc<Self>, every: u64) -> Option<Position> {
        loop {
            let before = self.newest_snapshot().await;
            let due = before.unwrap_or_default() + every;
            self.await_applied(due).await;
            if !self.is_writer() {
                self.await_applied(due + every.div_ceil(OTHERS_WAIT)).await;
            }
            // Another node may have put a snapshot meanwhile.
            if self.newest_snapshot().await == before {
                return before;
            }
        }
    }

    async fn await_applied(&self, position: Position) {
        let mut applied = self.applied.subscribe();
        // The wait cannot fail, since this node has the sender.
        let _ = applied.wait_for(|applied| *applied >= position).await;
    }

    async fn newest_snapshot(&self) -> Option<Position> {
        loop {
            match self.log.last_snapshot().await {
                Ok(newest) => return newest,
                Err(_) => tokio::time::sleep(self.options.tail_timeout).await,
            }
        }
    }

    /// Makes sure that there is a snapshot if the cluster began with content, since no node can then begin from the first entry.
    /// The founder may have ended before it put a snapshot.
    pub(super) async fn keep_beginning(self: Arc<Self>, database: Arc<Database>) {
        while self.reach(Position(1)).await.is_ok() && self.put_beginning(&database).await.is_err() {
            tokio::time::sleep(self.options.tail_timeout).await;
        }
    }

    async fn put_beginning(&self, database: &Database) -> Result<()> {
        let beginning = beginning(&*self.log, self.options.write_timeout).await?;
        let began_with_content = matches!(beginning, Beginning::Base(base) if base != Hash::default());
        if began_with_content && self.log.last_snapshot().await.map_err(Error::Log)?.is_none() {
            self.put_snapshot(database).await?;
        }
        Ok(())
    }

    /// Puts a snapshot into the log's store, and returns its position. If the log has no entry yet, puts nothing and returns position 0.
    pub(crate) async fn put_snapshot(&self, database: &Database) -> Result<Position> {
        let copy = Temporary::beside(&self.file);
        let options = BackupOptions {
            overwrite: true,
            ..BackupOptions::default()
        };
        database.backup(copy.text()?, options).await?;
        let position = position_in(copy.text()?).await?;
        // Other nodes begin from this copy, so it must have the history that the log has.
        self.check_running()?;
        if position > Position(0) {
            self.log
                .put_snapshot(position, &copy.0)
                .await
                .map_err(LogError::unanswered)?;
        }
        Ok(position)
    }
}

/// Returns the position of the database in a file.
async fn position_in(file: &str) -> Result<Position> {
    let options = resqlite::Options {
        read_only: true,
        ..resqlite::Options::default()
    };
    let database = Database::open(file, options).await?;
    let rows = database
        .select("SELECT position FROM _resqlite_position", ())
        .await;
    database.close().await?;
    match rows?.first().map(|row| row.values()) {
        Some([Value::Integer(position)]) => Ok(Position(*position as u64)),
        _ => Err(Error::File(format!("\"{file}\" has no position"))),
    }
}
