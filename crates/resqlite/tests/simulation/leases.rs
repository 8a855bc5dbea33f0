//! As many snapshots as may be open, and one more.

use std::sync::Arc;

use dice::Rng;
use resqlite::{
    Database, Options, Result,
    binding::{ColumnLayout, Outcome, Reply, RowBatch, Session, simulated},
    limits,
};
use shuttle::{
    future::block_on,
    sync::mpsc::{Receiver, Sender, channel},
};

use crate::machine::be_punctual;

/// Tells the code of an error, or nothing.
struct Tells(Sender<Option<&'static str>>);

impl Reply for Tells {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        self.0.send(outcome.err().map(|error| error.code())).unwrap();
    }
}

fn snapshot(db: &Database) -> (Session, Receiver<Option<&'static str>>) {
    let (tell, told) = channel();
    (db.engine().snapshot(Box::new(Tells(tell))), told)
}

/// One that is cancelled while it waits is told. What too many had opened is closed a while after the last of them.
pub fn crowd(rng: &mut Rng) {
    be_punctual();
    let db = block_on(Database::open(":memory:", Options::default())).unwrap();
    let opening: Vec<_> = (0..limits::LEASES_MAX).map(|_| snapshot(&db)).collect();
    let open = opening.into_iter().map(|(session, opened)| {
        assert_eq!(opened.recv().unwrap(), None);
        session
    });
    let mut open: Vec<_> = open.collect();
    let (waiting, opened) = snapshot(&db);
    waiting.cancel();
    db.engine().drop_cancelled();
    assert_eq!(opened.recv().unwrap(), Some("RESQLITE_ABORTED"));
    while !open.is_empty() {
        open.truncate(open.len() - rng.between(1, open.len()));
        simulated::sleep(limits::THREAD_IDLE / 3);
    }
    simulated::sleep(3 * limits::THREAD_IDLE);
    let now = db.diagnostics();
    assert_eq!((now.leases, now.leases_queued), (0, 0));
    assert!(now.readers <= now.readers_max + 1, "{now:?}");
    block_on(db.close()).unwrap();
}
