//! From nothing to a node that has caught up.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures_util::future::BoxFuture;
use resqlite::{Database, Position, Value};

use super::{Node, gate::Gate, snapshots::Temporary, writes::Server};
use crate::{
    core::{
        error::{Error, Result},
        log::{Log, LogError},
        options::{Options, RETRY},
    },
    protocol::Run,
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
    let file = Path::new(path);
    if !file.exists() {
        begin_from_snapshot(&*log, file, options.write_timeout).await?;
    }
    let mut database = Database::open(path, options.database.clone()).await?;
    let mut at = database.set_entry_gate(None).await?;
    if has_fallen_behind(&*log, at).await {
        database.close().await?;
        begin_from_snapshot(&*log, file, options.write_timeout).await?;
        database = Database::open(path, options.database.clone()).await?;
        at = database.set_entry_gate(None).await?;
    }
    let database = Arc::new(database);
    let engine = Arc::downgrade(database.engine());
    let node = Node::new(options, run, file.to_owned(), log, engine, at);
    if at.position == 0 {
        found(&node, &database).await?;
    }
    database.set_entry_gate(Some(Box::new(Gate::new(&node)))).await?;
    start(&node, &database).await;
    Ok((node, database))
}

async fn start(node: &Arc<Node>, database: &Arc<Database>) {
    node.keep_running(Arc::clone(node).follow());
    let ticking = Arc::clone(node);
    node.keep_running(async move {
        loop {
            tokio::time::sleep(RETRY).await;
            ticking.tell(|state, now| state.protocol.tick(now));
        }
    });
    let serving = Arc::clone(node);
    node.keep_running(async move {
        loop {
            let server = Arc::new(Server(Arc::clone(&serving)));
            if let Ok(_serves) = serving.log.serve(&serving.run.node, server).await {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(RETRY).await;
        }
    });
    if let Some(every) = node.options.snapshot_every {
        let keep = Arc::clone(node).keep_snapshots(Arc::clone(database), every.max(1));
        node.keep_running(keep);
    }
    // Without the log it can be read from nevertheless.
    if let Ok(last) = node.last().await {
        let _ = node.reach(last).await;
    }
}

impl Node {
    /// The position of the last entry that was taken before this call.
    pub(crate) async fn last(&self) -> Result<u64> {
        let last = patiently(self.options.write_timeout, || self.log.last()).await?;
        Ok(last)
    }
}

/// Begins a file from the newest snapshot, if there is one.
async fn begin_from_snapshot(log: &dyn Log, file: &Path, patience: Duration) -> Result<()> {
    let copy = Temporary::beside(file);
    let begun = patiently(patience, || {
        // A try before may have left a part of it.
        let _ = fs::remove_file(&copy.0);
        log.get_snapshot(&copy.0)
    });
    if begun.await?.is_none() {
        return Ok(());
    }
    let replaced = || {
        for suffix in ["-wal", "-shm"] {
            let mut name = file.as_os_str().to_owned();
            name.push(suffix);
            match fs::remove_file(name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::rename(&copy.0, file)
    };
    replaced().map_err(|error| Error::File(format!("{file:?} cannot be replaced by a snapshot: {error}")))
}

/// Whether the log has let go of what this file needs next.
async fn has_fallen_behind(log: &dyn Log, at: Position) -> bool {
    matches!(log.read(at.position + 1).await, Err(LogError::Purged { first }) if first > at.position + 1)
}

async fn exists(database: &Database, schema: &str) -> Result<bool> {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE {schema})");
    let rows = database.select(&sql, ()).await?;
    Ok(rows.first().map(|row| row.values()) == Some(&[Value::Integer(1)]))
}

/// A file that has content before the first entry founds the cluster: the others begin from it.
async fn found(node: &Node, database: &Database) -> Result<()> {
    if !exists(database, "name NOT GLOB '_resqlite_*'").await? {
        return Ok(());
    }
    let (is_new, from_founder) = (
        node.last().await? == 0,
        exists(database, "name = '_resqlite_position'").await?,
    );
    if is_new && (from_founder || !is_founded(node).await?) {
        // Makes the table of the position, by which others see that the content comes from a founder.
        database.set_entry_gate(Some(Box::new(Closed))).await?;
        return node.put_snapshot(database).await.map(drop);
    }
    if from_founder {
        return Ok(());
    }
    Err(Error::File(format!(
        "{:?} has content of its own, and the cluster has begun already: a node begins from the log, with a new file",
        node.file
    )))
}

/// Whether there is a snapshot: the content of a founder.
async fn is_founded(node: &Node) -> Result<bool> {
    let copy = Temporary::beside(&node.file);
    let snapshot = patiently(node.options.write_timeout, || {
        let _ = fs::remove_file(&copy.0);
        node.log.get_snapshot(&copy.0)
    });
    Ok(snapshot.await?.is_some())
}

/// Nothing commits while the cluster is founded.
struct Closed;

impl resqlite::EntryGate for Closed {
    fn before_commit(&mut self, _: &resqlite::Entry, verdict: resqlite::Verdict) {
        verdict.refuse("the cluster is being founded");
    }
}

/// Asks the log again and again, until it answers or the time is up.
async fn patiently<'a, T>(
    patience: Duration,
    ask: impl Fn() -> BoxFuture<'a, Result<T, LogError>>,
) -> Result<T, LogError> {
    let end = Instant::now() + patience;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let late = || Err(LogError::Unknown("the log did not answer in time".into()));
        match tokio::time::timeout(left, ask()).await.unwrap_or_else(|_| late()) {
            Err(LogError::Unreachable(_) | LogError::Unknown(_)) if Instant::now() < end => {
                tokio::time::sleep(RETRY).await;
            }
            answer => return answer,
        }
    }
}

/// A number that no other run of this node has: the time, and what this process has opened.
fn new_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (time.as_nanos() as u64).wrapping_add(OPENED.fetch_add(1, Ordering::Relaxed))
}
