//! A node of a cluster, as programs use it.

use std::{sync::Arc, thread::JoinHandle, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use resqlite::{
    Database, Params, Transaction, TransactionOptions, Value,
    binding::{ParamSets, WriteOp},
    log::Position,
};
use tokio::sync::oneshot;

use super::claims::Claim;
use crate::{
    core::{
        error::{Error, Result, is_overtaken},
        log::{Log, LogError, NodeName},
        options::Options,
        written::Written,
    },
    node::{self, Appends, Node},
};

/// A node of a cluster. Other nodes have its database, too.
///
/// Reads and live queries are those of [`database`](Self::database), and see what this node has applied. A write is done when a
/// majority has it on disk and this node shows it. The futures need no particular runtime.
///
/// ```
/// use std::sync::Arc;
/// use resqlite_cluster::{Cluster, NodeName, Options, MemoryLog};
///
/// # pollster::block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
/// let log = MemoryLog::new();
/// let open = async |name: &str| {
///     let options = Options::new(NodeName::new(name).unwrap());
///     Cluster::open(&path(name), options, Arc::new(log.connect())).await
/// };
/// let (one, other) = (open("one").await?, open("other").await?);
/// one.exec("CREATE TABLE users(name TEXT)").await?;
/// let written = one.execute("INSERT INTO users VALUES (?)", ["Ada".into()]).await?;
///
/// other.after(written.position).await?;
/// assert_eq!(other.database().select("SELECT name FROM users", ()).await?.len(), 1);
/// # one.close();
/// # other.close();
/// # Ok::<(), resqlite_cluster::Error>(())
/// # }).unwrap();
/// ```
pub struct Cluster {
    pub(super) node: Arc<Node>,
    pub(super) database: Arc<Database>,
    thread: Option<ClusterThread>,
    _claim: Claim,
}

/// The part that a node plays in its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The node appended the newest entry, and the others send their writes to it.
    Writer,
    /// The node applies what others append, and sends its writes to the writer.
    Follower,
    /// The node applies nothing and writes nothing any more.
    Stopped,
}

/// The status of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The part of the node in the cluster.
    pub role: Role,
    /// The position of its database.
    pub applied: Position,
    /// The newest position that the node knows of.
    pub newest: Position,
    /// The time since the node learned of the oldest entry that it has not applied.
    pub behind: Duration,
    /// The node that appended the newest entry that this node has seen.
    pub writer: Option<NodeName>,
    /// The appends that the node itself has made since it was opened.
    pub appends: Appends,
    /// The damage that single servers of the log have shown since the node was opened: see [`Log::damaged`].
    pub damaged: Vec<String>,
    /// The reason why the node has stopped.
    pub stopped: Option<Stopped>,
}

/// The reason why a node has stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The name of the reason for programs: `RESQLITE_LOG_DIVERGED` or `RESQLITE_FELL_BEHIND`.
    pub code: &'static str,
    /// The reason, and what to do, for people.
    pub message: String,
}

impl Cluster {
    /// Opens a node. A new file begins from the newest snapshot in the log's store, or empty. If the file has content and the log
    /// has no entries, the node founds a cluster: the other nodes begin from that content. If several nodes try, one of them
    /// founds it.
    ///
    /// # Errors
    /// - The errors of the database.
    /// - [`Error::NoQuorum`] or [`Error::OutcomeUnknown`]: the log is needed to begin, and does not answer. Open the node again.
    /// - [`Error::Stopped`]: the node must begin from a snapshot, and no snapshot arrived in the time that a write has. Open the
    ///   node again.
    /// - [`Error::File`]: the file has content that did not come from the log, or a position although the log has no entries, or
    ///   is open as a node in this process already. The file stays as it was.
    pub async fn open(path: &str, options: Options, log: Arc<dyn Log>) -> Result<Self> {
        Self::connect(path, options, || async { Ok(log) }.boxed()).await
    }

    /// Opens a node as [`open`](Self::open) does. The log is opened by `connect` on the thread of the node, within the tokio
    /// runtime that clients of logs need.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::NoQuorum`] and [`Error::Log`] if the log cannot be opened.
    pub async fn connect<C>(path: &str, options: Options, connect: C) -> Result<Self>
    where
        C: FnOnce() -> BoxFuture<'static, Result<Arc<dyn Log>, LogError>> + Send + 'static,
    {
        let claim = Claim::of(path)?;
        let (thread, opened) = ClusterThread::start(path.to_owned(), options, connect)?;
        let (node, database) = opened.await.unwrap_or(Err(Error::Closed))?;
        Ok(Self {
            node,
            database,
            thread: Some(thread),
            _claim: claim,
        })
    }

    /// Returns the database of this node, to read and to stream from. A write to it is committed as by
    /// [`execute`](Self::execute), but always by this node. The write fails with
    /// [`EntryFault::Overtaken`](resqlite::EntryFault::Overtaken) where other nodes were first: a transaction at once, another
    /// write after some tries.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Runs one statement that writes. The statement is done completely or not at all.
    ///
    /// # Errors
    /// The errors of the database, also with [`EntryFault::Overtaken`](resqlite::EntryFault::Overtaken) if other nodes were first
    /// until the write's time was up; [`Error::NoQuorum`], [`Error::OutcomeUnknown`], [`Error::AnswerLost`], [`Error::Stopped`].
    pub async fn execute(&self, sql: &str, params: impl Into<Params>) -> Result<Written> {
        let op = WriteOp::Execute {
            sql: sql.into(),
            params: params.into(),
        };
        self.write_one(op).await
    }

    /// Runs one statement once per set of parameters, all or nothing.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub async fn execute_batch(&self, sql: &str, sets: &[Vec<Value>]) -> Result<Written> {
        let packed: Vec<_> = sets
            .iter()
            .flat_map(|set| Params::from(&**set).as_bytes().to_vec())
            .collect();
        let range = 0..packed.len();
        let op = WriteOp::Batch {
            sql: sql.into(),
            first: ParamSets {
                count: sets.len(),
                params: Params::packed(packed.into(), range),
            },
            more: None,
        };
        self.write_one(op).await
    }

    /// Runs a script of many statements, all or nothing.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub async fn exec(&self, script: &str) -> Result<()> {
        self.write_one(WriteOp::Script(script.into())).await.map(drop)
    }

    /// Runs several statements of any kind as one write, all or nothing. Statements that read see the writes before them.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub async fn batch<'a>(
        &self,
        statements: impl IntoIterator<Item = (&'a str, Params)>,
    ) -> Result<Vec<Written>> {
        let op = WriteOp::Statements(statements.into_iter().collect());
        let node = Arc::clone(&self.node);
        self.node.on_thread(async move { node.write(op).await }).await
    }

    async fn write_one(&self, op: WriteOp) -> Result<Written> {
        let node = Arc::clone(&self.node);
        let written = self.node.on_thread(async move { node.write(op).await }).await?;
        Ok(written.into_iter().next().unwrap_or_default())
    }

    /// Runs `body` in a transaction on this node. If another node was first, `body` runs again from its start on the new state,
    /// up to `retries` times.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use resqlite_cluster::{Cluster, NodeName, Options, MemoryLog};
    /// # pollster::block_on(async {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("app.db");
    /// # let options = Options::new(NodeName::new("one").unwrap());
    /// # let node = Cluster::open(path.to_str().unwrap(), options, Arc::new(MemoryLog::new().connect())).await?;
    /// # node.exec("CREATE TABLE t(a)").await?;
    /// node.transaction(10, async |tx| {
    ///     let count = tx.select("SELECT count(*) AS n FROM t", ()).await?;
    ///     let count = count.first().unwrap().values()[0].clone();
    ///     tx.execute("INSERT INTO t VALUES (?)", [count]).await
    /// }).await?;
    /// # node.close();
    /// # Ok::<(), resqlite_cluster::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The errors of `body` and of [`execute`](Self::execute). After the last retry, the error of the database with
    /// [`EntryFault::Overtaken`](resqlite::EntryFault::Overtaken).
    pub async fn transaction<T>(
        &self,
        retries: usize,
        body: impl AsyncFn(&Transaction) -> resqlite::Result<T>,
    ) -> Result<T> {
        let mut left = retries;
        loop {
            match self.run_transaction(left < retries, &body).await {
                Err(error) if left > 0 && is_overtaken(&error) => left -= 1,
                done => return Ok(done?),
            }
        }
    }

    async fn run_transaction<T>(
        &self,
        again: bool,
        body: impl AsyncFnOnce(&Transaction) -> resqlite::Result<T>,
    ) -> resqlite::Result<T> {
        let options = TransactionOptions {
            again,
            ..TransactionOptions::default()
        };
        let transaction = self.database.begin(options).await?;
        let value = body(&transaction).await?;
        transaction.commit().await?;
        Ok(value)
    }

    /// Waits until this node shows everything that any node has acknowledged before this call; returns the position that it
    /// waited for.
    ///
    /// # Errors
    /// [`Error::NoQuorum`], [`Error::Stopped`].
    pub async fn fresh(&self) -> Result<Position> {
        let node = Arc::clone(&self.node);
        let fresh = async move {
            let last = node.last().await?;
            node.reach_while_it_moves(last).await.map(|()| last)
        };
        self.node.on_thread(fresh).await
    }

    /// Waits until this node shows a position that another node has named. To give up, drop the future.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn after(&self, position: Position) -> Result<()> {
        let node = Arc::clone(&self.node);
        self.node
            .on_thread(async move { node.reach(position).await })
            .await
    }

    /// Puts a snapshot into the log's store now; returns its position. Before the first entry there is nothing to put, and the
    /// position is 0.
    ///
    /// # Errors
    /// The errors of the database during the copy; [`Error::Log`], also if the log does not answer; [`Error::Stopped`].
    pub async fn snapshot(&self) -> Result<Position> {
        let (node, database) = (Arc::clone(&self.node), Arc::clone(&self.database));
        self.node
            .on_thread(async move { node.put_snapshot(&database).await })
            .await
    }

    /// The status of this node.
    pub fn status(&self) -> Status {
        self.node.tell(|state, now| {
            let protocol = &state.protocol;
            let writer = protocol.writer();
            let role = match protocol.stopped() {
                Some(_) => Role::Stopped,
                None if writer.is_some_and(|run| *run == self.node.run) => Role::Writer,
                None => Role::Follower,
            };
            Status {
                role,
                applied: protocol.applied().position,
                newest: protocol.newest(),
                behind: state.lag.age(now),
                writer: writer.map(|run| run.node.clone()),
                appends: state.appends,
                damaged: self.node.log.damaged(),
                stopped: protocol.stopped().map(|refusal| Stopped {
                    code: refusal.code,
                    message: refusal.message.clone(),
                }),
            }
        })
    }

    /// Closes the node, and blocks until its thread has ended; dropping it does the same. Writes that wait for the log fail;
    /// their outcome is not known.
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.node.close();
        drop(self.thread.take());
    }
}

/// The thread on which the node waits for the log.
struct ClusterThread {
    ends: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

type Opened = Result<(Arc<Node>, Arc<Database>)>;

impl ClusterThread {
    fn start<C>(path: String, options: Options, connect: C) -> Result<(Self, oneshot::Receiver<Opened>)>
    where
        C: FnOnce() -> BoxFuture<'static, Result<Arc<dyn Log>, LogError>> + Send + 'static,
    {
        let (ends, ended) = oneshot::channel();
        let (opens, opened) = oneshot::channel();
        let body = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                tokio::pin!(ended);
                tokio::select! {
                    // The receiver is gone if the caller gave up waiting.
                    opened = open(&path, options, connect()) => drop(opens.send(opened)),
                    _ = &mut ended => return,
                }
                let _ = ended.await;
            });
        };
        let thread = resqlite::binding::start_thread("resqlite-cluster", body);
        let thread = thread.map_err(|_| resqlite::Error::WorkerDied)?;
        let ends = Some(ends);
        let thread = Some(thread);
        Ok((Self { ends, thread }, opened))
    }
}

async fn open(
    path: &str,
    options: Options,
    connected: BoxFuture<'static, Result<Arc<dyn Log>, LogError>>,
) -> Opened {
    let log = connected.await.map_err(LogError::unanswered)?;
    node::open(path, options, log).await
}

impl Drop for ClusterThread {
    fn drop(&mut self) {
        drop(self.ends.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
