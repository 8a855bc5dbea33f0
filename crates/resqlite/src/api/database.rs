//! The Rust API: futures that need no particular runtime.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_channel::oneshot;

use crate::{
    api::{
        diagnostics::Diagnostics,
        engine::Handle,
        live_query::{LiveQueries, LiveQuery},
    },
    core::{
        error::{Error, Result},
        options::{Durability, Options},
        params::{Params, pack},
        token::Token,
        value::Value,
    },
    dependencies::Explanation,
    requests::{
        request::{Format, Outcome, ParamSets, Query, QueryLimits, Reply, Write, WriteOp, Written},
        session::Session,
    },
    rows::{ColumnLayout, Integers, RowBatch, Rows},
};

/// An open database. All work is done on native threads; the futures only wait. Dropping a future cancels a read
/// that still runs; a write that was requested is still done.
///
/// ```
/// use resqlite::{Database, Options, Params};
///
/// # pollster::block_on(async {
/// let db = Database::open(":memory:", Options::default()).await?;
/// db.exec("CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT)").await?;
/// db.execute("INSERT INTO users(name) VALUES (?)", ["Ada".into()]).await?;
/// let rows = db.select("SELECT name FROM users WHERE id = :id", Params::named([("id", 1.into())])).await?;
/// assert_eq!(rows.first().unwrap().get("name"), Some(&"Ada".into()));
/// # db.close().await
/// # }).unwrap();
/// ```
pub struct Database {
    handle: Arc<Handle>,
    durability: Durability,
    live: LiveQueries,
}

impl Database {
    /// Opens or creates the database file at `path`; `:memory:` makes a new database in memory. Several
    /// `Database`s on one file in one process share their threads.
    ///
    /// # Errors
    /// [`Error::Open`] says which file and why, [`Error::Option`] which option.
    pub async fn open(path: &str, options: Options) -> Result<Self> {
        let (path, durability) = (path.to_owned(), options.durability);
        let handle = off_thread(move || Handle::open(&path, &options)).await??;
        Ok(Self {
            handle: Arc::new(handle),
            durability,
            live: LiveQueries::default(),
        })
    }

    /// Runs a query and returns all its rows.
    ///
    /// # Errors
    /// SQLite's; [`Error::Parameter`]; [`Error::ReadOnly`] for a statement that writes.
    pub async fn select(&self, sql: &str, params: impl Into<Params>) -> Result<Rows> {
        let (reply, done) = rows_reply();
        let query = query(sql, params.into(), Format::Rows);
        let _cancel = CancelOnDrop(query.token.clone());
        self.handle.engine().select(query, reply);
        done.await
    }

    /// Runs a query within limits, for SQL that users write.
    ///
    /// # Errors
    /// As [`select`](Self::select), and [`Error::Limit`].
    pub async fn select_within(
        &self,
        limits: QueryLimits,
        sql: &str,
        params: impl Into<Params>,
    ) -> Result<Rows> {
        let (reply, done) = rows_reply();
        let mut query = query(sql, params.into(), Format::Rows);
        query.limits = Some(Box::new(limits));
        let _cancel = CancelOnDrop(query.token.clone());
        self.handle.engine().select(query, reply);
        done.await
    }

    /// Runs a query and returns its rows as a JSON array of objects.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub async fn select_json(&self, sql: &str, params: impl Into<Params>) -> Result<String> {
        let (reply, done) = bytes_reply();
        let query = query(sql, params.into(), Format::Json);
        let _cancel = CancelOnDrop(query.token.clone());
        self.handle.engine().select(query, reply);
        Ok(String::from_utf8(done.await?).expect("JSON text is UTF-8"))
    }

    /// Runs one statement that writes. It is done completely or not at all.
    ///
    /// # Errors
    /// SQLite's, [`Error::Parameter`].
    pub async fn execute(&self, sql: &str, params: impl Into<Params>) -> Result<WriteResult> {
        self.write(WriteOp::Execute {
            sql: sql.into(),
            params: params.into(),
        })
        .await
    }

    /// Runs one statement once per set of parameters, all or nothing.
    ///
    /// # Errors
    /// As [`execute`](Self::execute); then none of the sets has had an effect.
    pub async fn execute_batch(&self, sql: &str, sets: &[Vec<Value>]) -> Result<WriteResult> {
        self.write(batch(sql, sets)).await
    }

    /// Runs a script of many statements, all or nothing, unless it manages transactions itself or holds statements
    /// that cannot run in one (`VACUUM`, `PRAGMA`, `ATTACH`).
    ///
    /// # Errors
    /// SQLite's.
    pub async fn exec(&self, script: &str) -> Result<()> {
        self.write(WriteOp::Script(script.into())).await.map(drop)
    }

    async fn write(&self, op: WriteOp) -> Result<WriteResult> {
        if self.handle.is_read_only() {
            return Err(Error::ReadOnly("the database is open for reading only".into()));
        }
        let (reply, done) = write_reply();
        self.handle.engine().write(write(op, self.durability), reply);
        done.await
    }

    /// Begins a transaction, which has the writer for itself until it is committed, rolled back or dropped.
    ///
    /// # Errors
    /// SQLite's, such as `SQLITE_BUSY` when another process keeps the lock.
    pub async fn begin(&self, timeout: Option<Duration>) -> Result<Transaction> {
        let (reply, opened) = step_reply();
        let session = self.handle.engine().begin(timeout, self.durability, reply);
        opened.await?;
        Ok(Transaction {
            session,
            _handle: Arc::clone(&self.handle),
        })
    }

    /// Runs `body` in a transaction: committed when it returns `Ok`, rolled back when it returns `Err`.
    ///
    /// ```
    /// # use resqlite::{Database, Options};
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// # db.exec("CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER); INSERT INTO account VALUES (1, 9), (2, 0)").await?;
    /// db.transaction(async |tx| {
    ///     tx.execute("UPDATE account SET balance = balance - ? WHERE id = 1", [5.into()]).await?;
    ///     tx.execute("UPDATE account SET balance = balance + ? WHERE id = 2", [5.into()]).await
    /// }).await?;
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The body's, or SQLite's at COMMIT.
    pub async fn transaction<T>(&self, body: impl AsyncFnOnce(&Transaction) -> Result<T>) -> Result<T> {
        let transaction = self.begin(None).await?;
        let value = body(&transaction).await?;
        transaction.commit().await?;
        Ok(value)
    }

    /// Opens a snapshot: all its reads see one committed state.
    ///
    /// # Errors
    /// SQLite's.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        let (reply, opened) = step_reply();
        let session = self.handle.engine().snapshot(reply);
        opened.await?;
        Ok(Snapshot {
            session,
            _handle: Arc::clone(&self.handle),
        })
    }

    /// Reads a result in batches of at most `batch_rows` rows, on one snapshot and in bounded memory.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub async fn iterate(&self, sql: &str, params: impl Into<Params>, batch_rows: usize) -> Result<Cursor> {
        let (reply, first) = batch_reply();
        let query = query(sql, params.into(), Format::Rows);
        let session = self.handle.engine().cursor(query, batch_rows, reply);
        let (first, last) = first.await?;
        Ok(Cursor {
            session,
            batch: Some(first),
            last,
            _handle: Arc::clone(&self.handle),
        })
    }

    /// Keeps the result of a query up to date. See [`LiveQuery`].
    pub fn stream(&self, sql: &str, params: impl Into<Params>) -> LiveQuery {
        self.stream_all([(sql, params.into())])
    }

    /// Keeps the results of several queries up to date together: all of an emission come from one committed state.
    pub fn stream_all<'a>(&self, queries: impl IntoIterator<Item = (&'a str, Params)>) -> LiveQuery {
        let queries = queries.into_iter().map(|(sql, params)| (sql.into(), params));
        self.live.open(&self.handle, queries.collect())
    }

    /// Explains what a live query of this statement would depend on, and why not on less.
    ///
    /// # Errors
    /// Those of the statement.
    pub async fn explain_stream(&self, sql: &str, params: impl Into<Params>) -> Result<Explanation> {
        let (sender, receiver) = oneshot::channel();
        let done = Box::new(|explained| {
            let _ = sender.send(explained);
        });
        self.handle
            .engine()
            .explain_stream(sql.into(), params.into(), done);
        receiver.await.unwrap_or(Err(Error::WorkerDied))
    }

    /// Numbers about what the engine is doing.
    pub fn diagnostics(&self) -> Diagnostics {
        self.handle.engine().diagnostics()
    }

    /// The engine below, with the commit log.
    pub fn engine(&self) -> &Arc<crate::Engine> {
        self.handle.engine()
    }

    /// Closes the database: what was asked for is still done. Transactions, snapshots and cursors keep the file open
    /// until they are dropped.
    ///
    /// # Errors
    /// None at present; the type leaves room.
    pub async fn close(self) -> Result<()> {
        let handle = self.handle;
        off_thread(move || drop(handle)).await
    }
}

/// The result of a write, with the rows that `RETURNING` returned.
#[derive(Debug, Clone, Default)]
pub struct WriteResult {
    /// The rows of `RETURNING`; empty otherwise.
    pub rows: Rows,
    /// Rows inserted, updated or deleted by the statement itself.
    pub changes: i64,
    /// Row id of the last row inserted; 0 where none was.
    pub last_insert_rowid: i64,
    /// Number of the commit that made the write visible; inside a transaction, of the last one before it.
    pub commit: u64,
}

/// An open transaction. Dropping it rolls it back.
pub struct Transaction {
    session: Session,
    _handle: Arc<Handle>,
}

impl Transaction {
    /// Reads, seeing what the transaction has written.
    ///
    /// # Errors
    /// As [`Database::select`].
    pub async fn select(&self, sql: &str, params: impl Into<Params>) -> Result<Rows> {
        select_in(&self.session, sql, params.into()).await
    }

    /// Runs one statement. When it fails, the transaction goes on without it.
    ///
    /// # Errors
    /// As [`Database::execute`].
    pub async fn execute(&self, sql: &str, params: impl Into<Params>) -> Result<WriteResult> {
        self.write(WriteOp::Execute {
            sql: sql.into(),
            params: params.into(),
        })
        .await
    }

    /// Runs one statement once per set of parameters, all or nothing.
    ///
    /// # Errors
    /// As [`Database::execute_batch`].
    pub async fn execute_batch(&self, sql: &str, sets: &[Vec<Value>]) -> Result<WriteResult> {
        self.write(batch(sql, sets)).await
    }

    /// Runs a script, all or nothing.
    ///
    /// # Errors
    /// As [`Database::exec`].
    pub async fn exec(&self, script: &str) -> Result<()> {
        self.write(WriteOp::Script(script.into())).await.map(drop)
    }

    async fn write(&self, op: WriteOp) -> Result<WriteResult> {
        let (reply, done) = write_reply();
        self.session.write(write(op, Durability::Normal), reply);
        done.await
    }

    /// Opens a savepoint; levels count from 1 and nest.
    ///
    /// # Errors
    /// SQLite's.
    pub async fn savepoint(&self, level: u32) -> Result<()> {
        let (reply, done) = step_reply();
        self.session.savepoint(level, reply);
        done.await
    }

    /// Keeps what was done since the savepoint.
    ///
    /// # Errors
    /// SQLite's.
    pub async fn release(&self, level: u32) -> Result<()> {
        let (reply, done) = step_reply();
        self.session.release(level, reply);
        done.await
    }

    /// Undoes what was done since the savepoint and closes it.
    ///
    /// # Errors
    /// SQLite's.
    pub async fn rollback_to(&self, level: u32) -> Result<()> {
        let (reply, done) = step_reply();
        self.session.rollback_to(level, reply);
        done.await
    }

    /// Commits and returns the number of the commit.
    ///
    /// # Errors
    /// SQLite's, such as a deferred foreign key that does not hold; then everything is rolled back.
    pub async fn commit(self) -> Result<u64> {
        let (reply, done) = write_reply();
        self.session.commit(reply);
        Ok(done.await?.commit)
    }

    /// Rolls back.
    ///
    /// # Errors
    /// When the transaction has ended by itself: why.
    pub async fn rollback(self) -> Result<()> {
        let (reply, done) = step_reply();
        self.session.end(reply);
        done.await
    }
}

/// Reads that all see one committed state. Dropping it ends it.
pub struct Snapshot {
    session: Session,
    _handle: Arc<Handle>,
}

impl Snapshot {
    /// Reads on the snapshot.
    ///
    /// # Errors
    /// As [`Database::select`].
    pub async fn select(&self, sql: &str, params: impl Into<Params>) -> Result<Rows> {
        select_in(&self.session, sql, params.into()).await
    }
}

/// A result that is read in batches. Dropping it ends it.
pub struct Cursor {
    session: Session,
    batch: Option<Rows>,
    /// Whether the batch that was fetched last is the last of all.
    last: bool,
    _handle: Arc<Handle>,
}

impl Cursor {
    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// What SQLite says while it reads on.
    pub async fn next_batch(&mut self) -> Result<Option<Rows>> {
        if let Some(batch) = self.batch.take() {
            return Ok((!batch.is_empty()).then_some(batch));
        }
        if self.last {
            return Ok(None);
        }
        let (reply, done) = batch_reply();
        self.session.fetch(reply);
        let (batch, last) = done.await?;
        self.last = last;
        Ok((!batch.is_empty()).then_some(batch))
    }
}

async fn select_in(session: &Session, sql: &str, params: Params) -> Result<Rows> {
    let (reply, done) = rows_reply();
    let query = query(sql, params, Format::Rows);
    let _cancel = CancelOnDrop(query.token.clone());
    session.select(query, reply);
    done.await
}

/// Integers are asked for as 64-bit values, so that Rust sees exactly what is stored.
fn query(sql: &str, params: Params, format: Format) -> Query {
    Query {
        sql: sql.into(),
        params,
        format,
        integers: Integers::BigInt,
        token: Token::default(),
        limits: None,
    }
}

fn write(op: WriteOp, durability: Durability) -> Write {
    Write {
        op,
        durability,
        integers: Integers::BigInt,
        token: Token::default(),
    }
}

fn batch(sql: &str, sets: &[Vec<Value>]) -> WriteOp {
    let mut packed = Vec::new();
    sets.iter().for_each(|set| pack(&mut packed, set));
    let range = 0..packed.len();
    let first = ParamSets {
        count: sets.len(),
        params: Params::packed(packed.into(), range),
    };
    WriteOp::Batch {
        sql: sql.into(),
        first,
        more: None,
    }
}

/// Cancels a read whose future was dropped; after the end it does nothing.
struct CancelOnDrop(Token);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The reply of an engine thread, to be awaited.
struct Answer<T>(oneshot::Receiver<Result<T>>);

impl<T> Future for Answer<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|answer| answer.unwrap_or(Err(Error::WorkerDied)))
    }
}

/// Collects a reply: rows as they arrive, and a function that makes the result at the end.
struct Collect<T, F> {
    rows: Rows,
    done: F,
    answer: oneshot::Sender<Result<T>>,
}

impl<T, F> Reply for Collect<T, F>
where
    T: Send + 'static,
    F: FnOnce(Rows, Outcome<'_>) -> Result<T> + Send + 'static,
{
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.rows.extend(layout, &batch.to_bytes());
        !self.answer.is_canceled()
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let Self { rows, done, answer } = *self;
        // The caller may have dropped the future.
        let _ = answer.send(outcome.and_then(|outcome| done(rows, outcome)));
    }
}

fn reply<T: Send + 'static>(
    done: impl FnOnce(Rows, Outcome<'_>) -> Result<T> + Send + 'static,
) -> (Box<dyn Reply>, Answer<T>) {
    let (answer, receiver) = oneshot::channel();
    (
        Box::new(Collect {
            rows: Rows::default(),
            done,
            answer,
        }),
        Answer(receiver),
    )
}

fn rows_reply() -> (Box<dyn Reply>, Answer<Rows>) {
    reply(|mut rows, outcome| match outcome {
        Outcome::Rows { layout, last, .. } => {
            rows.extend(layout, &last.to_bytes());
            Ok(rows)
        }
        _ => Err(Error::WorkerDied),
    })
}

/// A batch, and whether it is the last.
fn batch_reply() -> (Box<dyn Reply>, Answer<(Rows, bool)>) {
    reply(|mut rows, outcome| match outcome {
        Outcome::Rows { layout, last, end } => {
            rows.extend(layout, &last.to_bytes());
            Ok((rows, end))
        }
        _ => Err(Error::WorkerDied),
    })
}

fn bytes_reply() -> (Box<dyn Reply>, Answer<Vec<u8>>) {
    reply(|_, outcome| match outcome {
        Outcome::Bytes(bytes) => Ok(bytes),
        _ => Err(Error::WorkerDied),
    })
}

fn write_reply() -> (Box<dyn Reply>, Answer<WriteResult>) {
    reply(|mut rows, outcome| match outcome {
        Outcome::Written(
            returned,
            Written {
                changes,
                last_insert_rowid,
                commit,
            },
        ) => {
            returned
                .iter()
                .for_each(|(layout, batch)| rows.extend(layout, batch));
            Ok(WriteResult {
                rows,
                changes,
                last_insert_rowid,
                commit,
            })
        }
        _ => Err(Error::WorkerDied),
    })
}

fn step_reply() -> (Box<dyn Reply>, Answer<()>) {
    reply(|_, _| Ok(()))
}

/// Runs what blocks for a moment (opening, closing) on a thread of its own.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let (done, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("resqlite-open".into());
    let spawned = thread.spawn(move || {
        let _ = done.send(work());
    });
    if spawned.is_err() {
        return Err(Error::WorkerDied);
    }
    receiver.await.map_err(|_| Error::WorkerDied)
}
