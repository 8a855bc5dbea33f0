//! Requests that are under way while the test does something else.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, mpsc},
    task::{Context, Poll, Waker},
};

use resqlite::{
    Database, Durability, Error, Params, Result,
    binding::{ColumnLayout, Format, Integers, Outcome, Query, Reply, RowBatch, Token, Write, WriteOp},
};

/// A future that was polled once: what it asks for is queued.
pub struct Asked<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + 'a>>,
    early: Option<T>,
}

/// Queues what the future asks for.
pub fn ask<'a, T>(future: impl Future<Output = T> + 'a) -> Asked<'a, T> {
    let mut future: Pin<Box<dyn Future<Output = T> + 'a>> = Box::pin(future);
    let early = match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    };
    Asked { future, early }
}

impl<T> Asked<'_, T> {
    pub fn wait(self) -> T {
        let Self { future, early } = self;
        early.unwrap_or_else(|| pollster::block_on(future))
    }
}

/// What a request was told at its end: `Ok` for any outcome.
pub type Told = Result<()>;

struct Tell<F>(Option<F>);

impl<F: FnOnce(Told) + Send> Reply for Tell<F> {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        true
    }

    fn finish(mut self: Box<Self>, outcome: Result<Outcome<'_>>) {
        (self.0.take().expect("finished once"))(outcome.map(drop));
    }
}

/// A reply that hands the end of its request to `told`, on the engine's thread.
pub fn tell(told: impl FnOnce(Told) + Send + 'static) -> Box<dyn Reply> {
    Box::new(Tell(Some(told)))
}

pub fn query(sql: &str, token: Token) -> Query {
    Query {
        sql: sql.into(),
        params: Params::default(),
        format: Format::Rows,
        integers: Integers::BigInt,
        token,
        limits: None,
    }
}

pub fn write(sql: &str, full: bool) -> Write {
    Write {
        op: WriteOp::Execute {
            sql: sql.into(),
            params: Params::default(),
        },
        durability: if full {
            Durability::Full
        } else {
            Durability::Normal
        },
        integers: Integers::BigInt,
        token: Token::default(),
        tag: None,
    }
}

/// A worker that stands still in the middle of a read until this is released or dropped.
pub struct HeldReader {
    go: Option<mpsc::Sender<()>>,
    done: mpsc::Receiver<Told>,
}

struct Hold {
    reached: Option<mpsc::Sender<()>>,
    go: mpsc::Receiver<()>,
    done: mpsc::Sender<Told>,
}

impl Reply for Hold {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        if let Some(reached) = self.reached.take() {
            reached.send(()).unwrap();
            // Ends with an error when the other side is dropped.
            let _ = self.go.recv();
        }
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let _ = self.done.send(outcome.map(drop));
    }
}

/// Occupies a reader with a read that has begun.
pub fn hold_reader(db: &Database) -> HeldReader {
    hold_reader_with(
        db,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n",
    )
}

/// As [`hold_reader`], with a query that must give more than one slice of rows.
pub fn hold_reader_with(db: &Database, sql: &str) -> HeldReader {
    let ((reached, has_reached), (go, may_go), (done, is_done)) =
        (mpsc::channel(), mpsc::channel(), mpsc::channel());
    let reply = Hold {
        reached: Some(reached),
        go: may_go,
        done,
    };
    db.engine().select(query(sql, Token::default()), Box::new(reply));
    has_reached.recv().expect("the read has begun");
    HeldReader {
        go: Some(go),
        done: is_done,
    }
}

impl HeldReader {
    /// Lets the read go on and waits for its end.
    pub fn release(mut self) -> Result<(), Error> {
        drop(self.go.take());
        self.done.recv().expect("every read is answered")
    }
}
