//! Opens a node and lets it catch up.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use resqlite::{
    CheckpointMode, Database, Value,
    feeds::FeedOptions,
    log::{EntryBase, Hash, Head, Position},
};

use super::{
    Node,
    asking::beginning,
    gate::Gate,
    temporary::{Temporary, remove_left, with_suffix},
    writes::Server,
};
use crate::{
    core::{
        codes,
        deadline::{Deadline, RETRY},
        error::{Error, Result},
        log::{Log, LogError},
        options::Options,
    },
    protocol::{Begin, Run},
};

/// Opens a node: from its file, or from the newest snapshot.
pub(crate) async fn open(
    path: &str,
    options: Options,
    log: Arc<dyn Log>,
) -> Result<(Arc<Node>, Arc<Database>)> {
    let run = Run {
        node: options.node.clone(),
        number: new_number(),
    };
    let start = Start {
        path,
        file: Path::new(path),
        options: &options,
        log: &*log,
    };
    let (database, at, founds) = start.begin().await?;
    let database = Arc::new(database);
    let engine = Arc::downgrade(database.engine());
    let file = start.file.to_owned();
    let node = Node::new(options, run, file, log, engine, at);
    database.set_entry_gate(Some(Box::new(Gate::new(&node)))).await?;
    start_tasks(&node, &database);
    if founds {
        let founded = found(&node, &database).await;
        founded.inspect_err(|_| node.close())?;
    } else {
        let caught_up = catch_up(&node).await;
        // A file that has entries can be read from without the log. An empty file would look as if there were no data.
        if at.position == Position(0) {
            caught_up.inspect_err(|_| node.close())?;
        }
        if node.options.writes {
            node.run_until_closed(Arc::clone(&node).keep_beginning(Arc::clone(&database)));
        }
    }
    Ok((node, database))
}

async fn catch_up(node: &Arc<Node>) -> Result<()> {
    let last = node.last().await?;
    node.reach_while_it_moves(last).await
}

fn start_tasks(node: &Arc<Node>, database: &Arc<Database>) {
    node.run_until_closed(Arc::clone(node).follow());
    let ticking = Arc::clone(node);
    node.run_until_closed(async move {
        loop {
            tokio::time::sleep(RETRY).await;
            ticking.tell(|state, now| state.protocol.tick(now));
        }
    });
    let serving = Arc::clone(node);
    node.run_until_closed(async move {
        loop {
            let server = Arc::new(Server(Arc::clone(&serving)));
            if let Ok(_serves) = serving.log.serve(&serving.run.node, server).await {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(RETRY).await;
        }
    });
    if let Some(every) = node.options.snapshot_every.filter(|_| node.options.writes) {
        let keep = Arc::clone(node).keep_snapshots(Arc::clone(database), every.max(1));
        node.run_until_closed(keep);
    }
}

/// Appends the first entry, which follows the base of this file, and puts the content into the log's store, for the others to
/// begin from. If the log has begun in another way, the file is left as it was, and is refused.
async fn found(node: &Arc<Node>, database: &Arc<Database>) -> Result<()> {
    if let Err(error) = node.write_turn().await {
        let stopped = node.tell(|state, _| state.protocol.stopped().cloned());
        return Err(match stopped {
            // The log has a first entry, which is not the entry of this file.
            Some(stopped) if database.entry_position().await?.position == Position(0) => {
                database.set_entry_base(EntryBase::Empty).await?;
                match stopped.code {
                    codes::FELL_BEHIND => refused(&node.file),
                    _ => error,
                }
            }
            _ => error,
        });
    }
    node.put_snapshot(database).await.map(drop)
}

/// Returns the error of a file that has content of its own.
fn refused(file: &Path) -> Error {
    Error::File(format!(
        "\"{}\" has content of its own, and the cluster has begun already: a node begins from the log, with a new file",
        file.display()
    ))
}

/// Returns the error of a file that has a position although the log has no entries.
fn of_another_log(file: &Path) -> Error {
    Error::File(format!(
        "\"{}\" has a position of another log: drop its change feeds, then reseed it",
        file.display()
    ))
}

/// The opening of the file of a node.
struct Start<'a> {
    path: &'a str,
    file: &'a Path,
    options: &'a Options,
    log: &'a dyn Log,
}

impl Start<'_> {
    /// Opens the database so that the log can go on from it. Returns the position of the database, and whether it founds the
    /// cluster.
    async fn begin(&self) -> Result<(Database, Head, bool)> {
        self.check_folder()?;
        remove_left(self.file);
        if !self.file.exists() && self.last_snapshot().await?.is_some() {
            self.replace_by_snapshot(Vec::new()).await?;
        }
        let (database, at) = self.open().await?;
        match self.how(&database, at).await? {
            Begin::FromLog => Ok((database, at, false)),
            Begin::Found if !self.options.writes => Err(Error::File(format!(
                "{:?} has content of its own, and a node that never writes (`writes` is false) cannot found a cluster",
                self.file
            ))),
            Begin::Found => {
                let at = database.set_entry_base(EntryBase::Own).await?;
                Ok((database, at, true))
            }
            Begin::FromSnapshot => {
                let feeds = database.feeds().await?;
                database.close().await?;
                self.await_snapshot(at.position).await?;
                self.replace_by_snapshot(feeds).await?;
                let (database, at) = self.open().await?;
                Ok((database, at, false))
            }
            Begin::Refuse => {
                if at.position == Position(0) && at.hash != Hash::default() {
                    // The node wanted to found the cluster, and did not learn that another node was first.
                    database.set_entry_base(EntryBase::Empty).await?;
                }
                Err(refused(self.file))
            }
        }
    }

    fn check_folder(&self) -> Result<()> {
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder {
            Some(folder) if !folder.is_dir() => Err(Error::File(format!(
                "\"{}\" cannot be made: \"{}\" is no folder",
                self.file.display(),
                folder.display()
            ))),
            _ => Ok(()),
        }
    }

    async fn open(&self) -> Result<(Database, Head)> {
        let database = Database::open(self.path, self.options.database.clone()).await?;
        let at = database.entry_position().await?;
        Ok((database, at))
    }

    async fn how(&self, database: &Database, at: Head) -> Result<Begin> {
        if at.position > Position(0) {
            return match self.log.read(at.position.next()).await {
                Err(LogError::Purged { first }) if first > at.position.next() => Ok(Begin::FromSnapshot),
                // A read may lag behind: the log may have more than it reports.
                Ok(None) if self.log.last().await == Ok(Position(0)) => Err(of_another_log(self.file)),
                _ => Ok(Begin::FromLog),
            };
        }
        let has_content = has_content(database).await?;
        let beginning = beginning(self.log, self.options.write_timeout).await?;
        Ok(Begin::of(has_content, at.hash, beginning))
    }

    async fn last_snapshot(&self) -> Result<Option<Position>> {
        let asked = Deadline::after(self.options.write_timeout);
        let asked = asked.retry(|| self.log.last_snapshot()).await;
        asked.map_err(LogError::unanswered)
    }

    /// Waits until there is a snapshot of a later position.
    async fn await_snapshot(&self, after: Position) -> Result<()> {
        let end = Instant::now() + self.options.write_timeout;
        while self.last_snapshot().await?.is_none_or(|at| at <= after) {
            if Instant::now() >= end {
                return Err(Error::Stopped {
                    code: codes::FELL_BEHIND,
                    message: format!(
                        "{:?} cannot go on from the log, which begins later or with the content of another node, and no \
                         snapshot came in time: open a node that has that content, then this one again",
                        self.file
                    ),
                });
            }
            tokio::time::sleep(RETRY).await;
        }
        Ok(())
    }

    /// Puts the feeds of this node into the snapshot, which has the feeds of the node that made it. Feeds belong to the node
    /// where they were opened.
    async fn keep_feeds(&self, snapshot: &Temporary, feeds: Vec<(FeedOptions, Position)>) -> Result<()> {
        let database = Database::open(snapshot.text()?, self.options.database.clone()).await?;
        database.replace_feeds(feeds).await?;
        // Closing also copies the log into the file, but does not report a failure to do so. Without the log the file would be
        // damaged.
        if database.checkpoint(CheckpointMode::Truncate).await?.busy {
            return Err(Error::File(format!("another program uses {:?}", snapshot.0)));
        }
        Ok(database.close().await?)
    }

    /// Replaces the file, which had these feeds, by the newest snapshot.
    async fn replace_by_snapshot(&self, feeds: Vec<(FeedOptions, Position)>) -> Result<()> {
        let copy = Temporary::beside(self.file);
        let deadline = Deadline::after(self.options.write_timeout);
        let got = deadline.retry(|| {
            // An earlier try may have left a part of the copy.
            let _ = fs::remove_file(&copy.0);
            self.log.get_snapshot(&copy.0)
        });
        let got = got.await.map_err(|error| match error {
            LogError::Damaged(why) => LogError::Damaged(format!(
                "{why}: put another snapshot on a node that runs (clusterSnapshot), and open this one again"
            )),
            error => error,
        });
        if got.map_err(LogError::unanswered)?.is_none() {
            return Ok(());
        }
        self.keep_feeds(&copy, feeds).await?;
        let replaced = || {
            for suffix in ["-wal", "-shm"] {
                match fs::remove_file(with_suffix(self.file, suffix)) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            fs::rename(&copy.0, self.file)
        };
        replaced().map_err(|error| {
            Error::File(format!(
                "{:?} cannot be replaced by a snapshot: {error}",
                self.file
            ))
        })
    }
}

impl Node {
    /// Returns the position of the last entry that was taken before this call. If the log ends before the position of this node,
    /// it has lost entries, and the node stops.
    pub(crate) async fn last(self: &Arc<Self>) -> Result<Position> {
        let had = *self.applied.borrow();
        let deadline = Deadline::after(self.options.write_timeout);
        let last = deadline.retry(|| self.log.last()).await;
        let last = last.map_err(LogError::unanswered)?;
        if last < had {
            self.tell(|state, now| state.protocol.ends(now, had, last));
        }
        self.check_running()?;
        Ok(last)
    }
}

/// Returns whether a database has anything except resqlite's own tables, in its schema or in the header of its file.
async fn has_content(database: &Database) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name NOT GLOB '_resqlite_*')
               OR (SELECT user_version <> 0 FROM pragma_user_version)
               OR (SELECT application_id <> 0 FROM pragma_application_id)";
    let rows = database.select(sql, ()).await?;
    Ok(rows.first().map(|row| row.values()) == Some(&[Value::Integer(1)]))
}

/// Returns a number that no other run of this node has. It is made of the time and the number of nodes that this process has
/// opened.
fn new_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (time.as_nanos() as u64).wrapping_add(OPENED.fetch_add(1, Ordering::Relaxed))
}
