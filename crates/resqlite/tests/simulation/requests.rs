//! Requests that somebody sends and does not wait for, as a binding to another language does.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use dice::Rng;
use resqlite::{
    Database, Durability, Options, Params, Result,
    binding::{
        ColumnLayout, Format, Handle, Integers, Outcome, Query, Reply, RowBatch, Session, Token, Write,
        WriteOp,
    },
};
use shuttle::{
    future::block_on,
    thread::{self, JoinHandle},
};

/// The numbers of requests that were sent and answered.
#[derive(Default)]
pub struct Replies {
    sent: AtomicUsize,
    told: AtomicUsize,
    written: AtomicUsize,
}

struct Told {
    replies: Arc<Replies>,
    is_write: bool,
    /// It may be refused because its session has ended.
    is_step: bool,
}

impl Reply for Told {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let Replies { told, written, .. } = &*self.replies;
        told.fetch_add(1, Relaxed);
        match outcome {
            Ok(_) if self.is_write => written.fetch_add(1, Relaxed),
            Ok(_) => 0,
            Err(error) => {
                let is_late = self.is_step && error.code() == "RESQLITE_TRANSACTION";
                assert!(is_late || error.code() == "RESQLITE_CLOSED", "{error}");
                0
            }
        };
    }
}

/// Sends reads and writes, opens what is never ended, and closes the database in the middle of it.
pub fn send_and_close(path: &str, rng: &mut Rng) -> Arc<Replies> {
    let replies: Arc<Replies> = Arc::default();
    let handle = Handle::open(path, &Options::default()).unwrap();
    let senders: Vec<_> = (0..rng.between(1, 3))
        .map(|_| send(&handle, &replies, rng.any(), rng.below(12)))
        .collect();
    (0..rng.below(60)).for_each(|_| thread::yield_now());
    handle.close();
    senders
        .into_iter()
        .for_each(|sender| drop(sender.join().unwrap()));
    replies
}

/// Returns what it has opened.
fn send(handle: &Handle, replies: &Arc<Replies>, seed: u64, count: usize) -> JoinHandle<Vec<Session>> {
    let (engine, replies, mut rng) = (Arc::clone(handle.engine()), Arc::clone(replies), Rng(seed));
    thread::spawn(move || {
        let mut sessions: Vec<Session> = Vec::new();
        for _ in 0..count {
            let kind = rng.below(12);
            let is_write = kind < 4;
            let is_step = kind > 9 && !sessions.is_empty();
            let told = Box::new(Told {
                replies: Arc::clone(&replies),
                is_write,
                is_step,
            });
            replies.sent.fetch_add(1, Relaxed);
            match kind {
                0..4 => engine.write(insert(), told),
                4..7 => engine.select(count_rows(), told),
                7 => sessions.push(engine.begin(None, Durability::Normal, told)),
                10 if is_step => rng.pick(&sessions).select(count_rows(), told),
                11 if is_step => rng.pick(&sessions).end(told),
                _ => sessions.push(engine.snapshot(told)),
            }
            if rng.one_in(3) {
                thread::yield_now();
            }
        }
        sessions
    })
}

impl Replies {
    /// Each request was answered once, and what was acknowledged is there.
    pub fn hold(&self, path: &str) {
        assert_eq!(self.told.load(Relaxed), self.sent.load(Relaxed));
        let db = block_on(Database::open(path, Options::default())).unwrap();
        let rows = block_on(db.select("SELECT count(*) FROM t", ())).unwrap();
        let count = rows.iter().next().unwrap().values()[0].clone();
        assert_eq!(count, (self.written.load(Relaxed) as i64).into());
        block_on(db.close()).unwrap();
    }
}

fn insert() -> Write {
    Write {
        op: WriteOp::Execute {
            sql: "INSERT INTO t VALUES (1)".into(),
            params: Params::default(),
        },
        durability: Durability::Normal,
        integers: Integers::BigInt,
        token: Token::default(),
        tag: None,
    }
}

fn count_rows() -> Query {
    Query {
        sql: "SELECT count(*) FROM t".into(),
        params: Params::default(),
        format: Format::Rows,
        integers: Integers::BigInt,
        token: Token::default(),
        limits: None,
    }
}
