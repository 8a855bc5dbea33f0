//! Transactions and snapshots: each holds a connection until it is dropped.

use std::sync::Arc;

use crate::{
    api::{
        answers::{
            CancelOnDrop, QueryResult, WriteResult, batch, batch_of_statements_reply, description_reply,
            query, query_reply, rows_reply, step_reply, write, write_reply,
        },
        cursor::Cursor,
        handle::Handle,
    },
    core::{commit_id::CommitId, error::Result, options::Durability, params::Params, value::Value},
    requests::{
        description::Description,
        request::{Format, WriteOp},
        session::Session,
    },
    rows::Rows,
};

/// An open transaction. Dropping it rolls it back.
pub struct Transaction {
    session: Session,
    _handle: Arc<Handle>,
}

impl Transaction {
    pub(super) fn new(session: Session, handle: &Arc<Handle>) -> Self {
        Self {
            session,
            _handle: Arc::clone(handle),
        }
    }

    /// Runs a query, which sees what the transaction has written.
    ///
    /// # Errors
    /// As [`crate::Database::select`].
    pub async fn select(&self, sql: &str, params: impl Into<Params>) -> Result<Rows> {
        select_in(&self.session, sql, params.into()).await
    }

    /// Reads a result in batches of at most `batch_rows` rows. The transaction goes on meanwhile, and may have several cursors. A later
    /// write of the transaction changes no row that was already fetched. SQLite decides whether rows that are fetched after the write
    /// show it. A table that a cursor reads cannot be dropped.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub async fn iterate(
        &self,
        sql: &str,
        params: impl Into<Params>,
        batch_rows: usize,
    ) -> Result<Cursor<'_>> {
        Cursor::open_in(&self.session, sql, params.into(), batch_rows).await
    }

    /// Runs one statement. When it fails, the transaction goes on without it.
    ///
    /// # Errors
    /// As [`crate::Database::execute`].
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
    /// As [`crate::Database::execute_batch`].
    pub async fn execute_batch(&self, sql: &str, sets: &[Vec<Value>]) -> Result<WriteResult> {
        self.write(batch(sql, sets)).await
    }

    /// Runs a script, all or nothing.
    ///
    /// # Errors
    /// As [`crate::Database::exec`].
    pub async fn exec(&self, script: &str) -> Result<()> {
        self.write(WriteOp::Script(script.into())).await.map(drop)
    }

    /// Runs one statement of any kind in the transaction.
    ///
    /// # Errors
    /// As [`Database::query`](crate::Database::query).
    pub async fn query(&self, sql: &str, params: impl Into<Params>) -> Result<QueryResult> {
        query_in(&self.session, sql, params.into()).await
    }

    /// Describes a statement, as the transaction sees the schema, without running it.
    ///
    /// # Errors
    /// As [`Database::describe`](crate::Database::describe).
    pub async fn describe(&self, sql: &str) -> Result<Description> {
        describe_in(&self.session, sql).await
    }

    /// Runs several statements of any kind, all or nothing.
    ///
    /// # Errors
    /// As [`Database::batch`](crate::Database::batch); the transaction then goes on without these
    /// statements.
    pub async fn batch<'a>(
        &self,
        statements: impl IntoIterator<Item = (&'a str, Params)>,
    ) -> Result<Vec<QueryResult>> {
        let (reply, done) = batch_of_statements_reply();
        let op = WriteOp::Statements(statements.into_iter().collect());
        self.session.write(write(op, Durability::Normal), reply);
        done.await
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

    /// Keeps the changes since the savepoint, and closes it.
    ///
    /// # Errors
    /// SQLite's.
    pub async fn release(&self, level: u32) -> Result<()> {
        let (reply, done) = step_reply();
        self.session.release(level, reply);
        done.await
    }

    /// Undoes the changes since the savepoint, and closes it.
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
    /// SQLite's, such as `SQLITE_CONSTRAINT_FOREIGNKEY` if a deferred foreign key does not hold, or a foreign key that
    /// [`TransactionOptions::foreign_keys_off`](crate::TransactionOptions::foreign_keys_off) left unchecked. In that case everything is
    /// rolled back.
    pub async fn commit(self) -> Result<CommitId> {
        let (reply, done) = write_reply();
        self.session.commit(reply);
        Ok(done.await?.commit)
    }

    /// Rolls the transaction back.
    ///
    /// # Errors
    /// The reason, if the transaction has already ended by itself.
    pub async fn rollback(self) -> Result<()> {
        let (reply, done) = step_reply();
        self.session.end(reply);
        done.await
    }
}

/// A committed state that all reads on the snapshot see. Dropping the snapshot ends it.
pub struct Snapshot {
    session: Session,
    _handle: Arc<Handle>,
}

impl Snapshot {
    pub(super) fn new(session: Session, handle: &Arc<Handle>) -> Self {
        Self {
            session,
            _handle: Arc::clone(handle),
        }
    }

    /// Reads on the snapshot.
    ///
    /// # Errors
    /// As [`crate::Database::select`].
    pub async fn select(&self, sql: &str, params: impl Into<Params>) -> Result<Rows> {
        select_in(&self.session, sql, params.into()).await
    }

    /// Reads a result in batches of at most `batch_rows` rows. A snapshot may have several cursors.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub async fn iterate(
        &self,
        sql: &str,
        params: impl Into<Params>,
        batch_rows: usize,
    ) -> Result<Cursor<'_>> {
        Cursor::open_in(&self.session, sql, params.into(), batch_rows).await
    }

    /// Runs one statement that reads, of any kind.
    ///
    /// # Errors
    /// As [`Database::query`](crate::Database::query); [`Error::ReadOnly`](crate::Error::ReadOnly) if the statement writes.
    pub async fn query(&self, sql: &str, params: impl Into<Params>) -> Result<QueryResult> {
        query_in(&self.session, sql, params.into()).await
    }

    /// Describes a statement, as the snapshot sees the schema, without running it.
    ///
    /// # Errors
    /// As [`Database::describe`](crate::Database::describe).
    pub async fn describe(&self, sql: &str) -> Result<Description> {
        describe_in(&self.session, sql).await
    }
}

async fn query_in(session: &Session, sql: &str, params: Params) -> Result<QueryResult> {
    let (reply, done) = query_reply();
    session.query(query(sql, params, Format::Rows), reply);
    done.await
}

async fn describe_in(session: &Session, sql: &str) -> Result<Description> {
    let (reply, done) = description_reply();
    session.describe(sql.into(), reply);
    done.await
}

async fn select_in(session: &Session, sql: &str, params: Params) -> Result<Rows> {
    let (reply, done) = rows_reply();
    let query = query(sql, params, Format::Rows);
    let _cancel = CancelOnDrop(query.token.clone());
    session.select(query, reply);
    done.await
}
