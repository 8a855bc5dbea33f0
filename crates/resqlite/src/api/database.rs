//! The Rust API: futures that need no particular runtime.

use std::sync::Arc;

use futures_channel::oneshot;

use crate::{
    api::{
        answers::{
            CancelOnDrop, QueryResult, WriteResult, batch, batch_of_statements_reply, batch_reply,
            bytes_reply, description_reply, query, query_reply, rows_reply, step_reply, write, write_reply,
        },
        cursor::Cursor,
        diagnostics::Diagnostics,
        engine::Engine,
        handle::{Handle, run},
        live_query::{LiveQueries, LiveQuery},
        sessions::{Snapshot, Transaction},
    },
    core::{
        error::{Error, Result},
        options::{Durability, Options},
        params::Params,
        value::Value,
    },
    maintain::Explanation,
    requests::{
        description::Description,
        request::{Format, QueryLimits, TransactionOptions, WriteOp},
    },
    rows::Rows,
};

/// An open database. All work is done on native threads; the futures only wait. Dropping the future of a read cancels the read if it
/// still runs. A write that was requested is done even if its future is dropped.
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
    /// [`Error::Open`] names the file and the reason; [`Error::Option`] names the option.
    pub async fn open(path: &str, options: Options) -> Result<Self> {
        let (path, durability) = (path.to_owned(), options.durability);
        let handle = off_thread(move || Handle::open(&path, &options)).await??;
        Ok(Self::on(handle, durability))
    }

    /// Makes a database in memory from the bytes of a database file, such as those that [`serialize`](Self::serialize) returns.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_bytes(bytes: Vec<u8>, options: Options) -> Result<Self> {
        let durability = options.durability;
        let handle = off_thread(move || Handle::open_bytes(bytes, &options)).await??;
        Ok(Self::on(handle, durability))
    }

    pub(crate) fn on(handle: Handle, durability: Durability) -> Self {
        Self {
            handle: Arc::new(handle),
            durability,
            live: LiveQueries::default(),
        }
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
    /// As [`execute`](Self::execute); in that case none of the sets has had an effect.
    pub async fn execute_batch(&self, sql: &str, sets: &[Vec<Value>]) -> Result<WriteResult> {
        self.write(batch(sql, sets)).await
    }

    /// Runs a script of many statements, all or nothing. That does not hold for a script that manages transactions itself or holds
    /// statements that cannot run in a transaction (`VACUUM`, `PRAGMA`, `ATTACH`).
    ///
    /// # Errors
    /// SQLite's.
    pub async fn exec(&self, script: &str) -> Result<()> {
        self.write(WriteOp::Script(script.into())).await.map(drop)
    }

    /// Runs one statement of any kind: on a reader if it only reads, else on the writer.
    ///
    /// ```
    /// # use resqlite::{Database, Options};
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// db.query("CREATE TABLE t(a INTEGER)", ()).await?;
    /// let read = db.query("WITH x AS (SELECT a FROM t) SELECT * FROM x", ()).await?;
    /// assert_eq!(read.columns[0].declared_type.as_deref(), Some("INTEGER"));
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// SQLite's, [`Error::Parameter`], [`Error::Statement`]; [`Error::ReadOnly`] for a write to a database that is open for
    /// reading only.
    pub async fn query(&self, sql: &str, params: impl Into<Params>) -> Result<QueryResult> {
        let (reply, done) = query_reply();
        let query = query(sql, params.into(), Format::Rows);
        self.handle.engine().query(query, self.durability, reply);
        done.await
    }

    /// Describes a statement without running it. The statement may be of any kind.
    ///
    /// # Errors
    /// SQLite's, [`Error::Statement`]; [`Error::ReadOnly`] for a PRAGMA that would take effect at once.
    pub async fn describe(&self, sql: &str) -> Result<Description> {
        let (reply, done) = description_reply();
        self.handle.engine().describe(sql.into(), reply);
        done.await
    }

    /// Runs several statements of any kind as one write, all or nothing. A statement that reads sees the writes of the statements before
    /// it.
    ///
    /// ```
    /// # use resqlite::{Database, Options};
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// # db.exec("CREATE TABLE t(a)").await?;
    /// let done = db.batch([
    ///     ("INSERT INTO t VALUES (?)", [1.into()].into()),
    ///     ("SELECT count(*) FROM t", ().into()),
    /// ]).await?;
    /// assert_eq!((done[0].changes, done[1].rows.len()), (1, 1));
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`Error::Member`] names the statement that failed, and the reason; in that case none of the
    /// statements has had an effect.
    pub async fn batch<'a>(
        &self,
        statements: impl IntoIterator<Item = (&'a str, Params)>,
    ) -> Result<Vec<QueryResult>> {
        let (reply, done) = batch_of_statements_reply();
        let op = WriteOp::Statements(statements.into_iter().collect());
        self.handle.engine().write(write(op, self.durability), reply);
        done.await
    }

    async fn write(&self, op: WriteOp) -> Result<WriteResult> {
        if self.handle.is_read_only() {
            return Err(Error::ReadOnly("the database is open for reading only".into()));
        }
        let (reply, done) = write_reply();
        self.handle.engine().write(write(op, self.durability), reply);
        done.await
    }

    /// Begins a transaction. The transaction has the writer to itself until it is committed, rolled back or dropped. The options may be a
    /// timeout alone.
    ///
    /// # Errors
    /// SQLite's, such as `SQLITE_BUSY` when another process keeps the lock.
    pub async fn begin(&self, options: impl Into<TransactionOptions>) -> Result<Transaction> {
        let (reply, opened) = step_reply();
        let session = self.handle.engine().begin(options, self.durability, reply);
        opened.await?;
        Ok(Transaction::new(session, &self.handle))
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
    /// The errors of `body`, or SQLite's at COMMIT.
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
        Ok(Snapshot::new(session, &self.handle))
    }

    /// Reads a result in batches of at most `batch_rows` rows, on one snapshot and in bounded memory.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub async fn iterate(
        &self,
        sql: &str,
        params: impl Into<Params>,
        batch_rows: usize,
    ) -> Result<Cursor<'static>> {
        let (reply, first) = batch_reply();
        let query = query(sql, params.into(), Format::Rows);
        let session = self.handle.engine().cursor(query, batch_rows, reply);
        Ok(Cursor::new(session, first.await?, &self.handle))
    }

    /// Keeps the result of a query up to date. See [`LiveQuery`].
    pub fn stream(&self, sql: &str, params: impl Into<Params>) -> LiveQuery {
        self.stream_all([(sql, params.into())])
    }

    /// Keeps the results of several queries up to date together: all results of an emission come from one committed state.
    pub fn stream_all<'a>(&self, queries: impl IntoIterator<Item = (&'a str, Params)>) -> LiveQuery {
        let queries = queries.into_iter().map(|(sql, params)| (sql.into(), params));
        self.live.open(&self.handle, queries.collect())
    }

    /// Explains what a live query of this statement would depend on, and why it cannot depend on
    /// less.
    ///
    /// # Errors
    /// The errors of the statement.
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

    pub(super) fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    /// Returns numbers about what the engine is doing.
    pub fn diagnostics(&self) -> Diagnostics {
        self.handle.engine().diagnostics()
    }

    /// Returns the engine on which this database works, which has the commit log.
    pub fn engine(&self) -> &Arc<Engine> {
        self.handle.engine()
    }

    /// Closes the database. Requests that were made before are still done. Transactions, snapshots and cursors keep the file open until
    /// they are dropped.
    ///
    /// # Errors
    /// None at present; the result type allows errors to be added later.
    pub async fn close(self) -> Result<()> {
        let handle = self.handle;
        off_thread(move || drop(handle)).await
    }
}

/// Runs `work`, which may block for a moment (as opening and closing do), on a worker.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let (done, receiver) = oneshot::channel();
    run(move || {
        // The caller may have dropped the future.
        let _ = done.send(work());
    });
    receiver.await.map_err(|_| Error::WorkerDied)
}
