//! Snapshots and cursors: who holds a thread, who waits for one, and that nobody waits for ever.

use std::{
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use resqlite::{
    Database, Error, Holder,
    binding::{Session, Token},
    limits,
};

use crate::support::{Fixture, Told, ask, block_on, query, tell};

const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
/// Whoever is not answered by then hangs.
const HANGS: Duration = Duration::from_secs(30);

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)")
}

/// A snapshot that was asked for, and the news that it is open.
fn snapshot(db: &Database) -> (Session, Receiver<Told>) {
    let (opened, is_open) = mpsc::channel();
    let session = db.engine().snapshot(tell(move |told| {
        let _ = opened.send(told);
    }));
    (session, is_open)
}

fn until(db: &Database, condition: impl Fn(&resqlite::Diagnostics) -> bool) {
    let end = Instant::now() + HANGS;
    while !condition(&db.diagnostics()) {
        assert!(Instant::now() < end, "{:?}", db.diagnostics());
        thread::yield_now();
    }
}

fn idle(holder: &Holder) -> bool {
    holder.idle
}

/// As many snapshots as may be at work, all of them at work.
fn all_at_work(db: &Database) -> Vec<Session> {
    let snapshots = (0..limits::LEASES_AT_WORK).map(|_| {
        let (session, _) = snapshot(db);
        session.select(query(ENDLESS, Token::default()), tell(|_| ()));
        session
    });
    let snapshots = snapshots.collect();
    until(db, |now| {
        now.lease_holders.len() == limits::LEASES_AT_WORK && !now.lease_holders.iter().any(idle)
    });
    snapshots
}

#[test]
fn snapshots_that_wait_for_their_callers_keep_no_other_from_getting_a_thread() {
    let fixture = fixture();
    let open: Vec<_> = (0..limits::LEASES_AT_WORK * 2)
        .map(|_| {
            let (session, opened) = snapshot(&fixture.db);
            assert_eq!(opened.recv_timeout(HANGS), Ok(Ok(())));
            session
        })
        .collect();
    assert_eq!(fixture.db.diagnostics().leases, open.len());
}

#[test]
fn a_snapshot_waits_while_as_many_as_may_be_are_at_work() {
    let fixture = fixture();
    let at_work = all_at_work(&fixture.db);
    let (_waiting, opened) = snapshot(&fixture.db);
    thread::sleep(limits::LEASE_PATIENCE * 3);
    assert_eq!(fixture.db.diagnostics().leases_queued, 1);
    at_work[7].cancel();
    assert_eq!(opened.recv_timeout(HANGS), Ok(Ok(())));
    at_work.iter().for_each(Session::cancel);
}

#[test]
fn a_snapshot_that_is_cancelled_while_it_waits_is_answered_at_once() {
    let fixture = fixture();
    let at_work = all_at_work(&fixture.db);
    let (waiting, opened) = snapshot(&fixture.db);
    waiting.cancel();
    fixture.db.engine().drop_cancelled();
    assert_eq!(opened.recv_timeout(HANGS), Ok(Err(Error::Aborted)));
    at_work.iter().for_each(Session::cancel);
}

#[test]
fn a_snapshot_that_waits_when_the_database_closes_is_told() {
    let Fixture { db, folder: _folder } = fixture();
    let at_work = all_at_work(&db);
    let (waiting, opened) = snapshot(&db);
    let (closed, is_closed) = mpsc::channel();
    thread::spawn(move || closed.send(block_on(db.close())));
    // It may get the thread of one that was ended before it.
    let told = opened.recv_timeout(HANGS).expect("it is told");
    assert!(matches!(told, Ok(()) | Err(Error::Closed)), "{told:?}");
    assert_eq!(is_closed.recv_timeout(HANGS), Ok(Ok(())));
    let (answered, answer) = mpsc::channel();
    waiting.select(
        query("SELECT 1", Token::default()),
        tell(move |told| answered.send(told).unwrap()),
    );
    assert_eq!(answer.recv(), Ok(Err(Error::Closed)));
    drop(at_work);
}

#[test]
fn diagnostics_tell_who_holds_a_thread_and_who_the_writer() {
    let fixture = fixture();
    let db = &fixture.db;
    assert_eq!(db.diagnostics().transaction, None);
    let snapshot = block_on(db.snapshot()).unwrap();
    let cursor = block_on(db.iterate("SELECT a FROM t", (), 1)).unwrap();
    let transaction = block_on(db.begin(None)).unwrap();
    let running = ask(transaction.select(ENDLESS, ()));
    let both_idle = |holders: &[Holder]| holders.len() == 2 && holders.iter().all(idle);
    until(db, |now| {
        both_idle(&now.lease_holders) && now.transaction.as_ref().is_some_and(|writer| !writer.idle)
    });
    let holders = db.diagnostics().lease_holders;
    let queries: Vec<_> = holders.iter().map(|holder| holder.sql.as_deref()).collect();
    assert_eq!(queries, [None, Some("SELECT a FROM t")]);
    assert!(holders[0].since <= holders[1].since);
    drop(running);
    drop((snapshot, cursor, transaction));
    until(db, |now| {
        now.lease_holders.is_empty() && now.transaction.is_none() && now.leases == 0
    });
}
