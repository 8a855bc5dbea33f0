//! Snapshots and cursors: who has a connection, who waits for one, and that nobody waits for ever.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use resqlite::{
    Database, Error, Holder,
    binding::{Session, Token},
    limits,
};

use crate::support::{Fixture, Told, ask, block_on, open, query, readers, tell};

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

/// As many snapshots as may be open, all of them open. In memory, since each needs files otherwise.
fn all_open() -> (Database, Vec<Session>) {
    let db = open(":memory:").unwrap();
    let snapshots = (0..limits::LEASES_MAX).map(|_| {
        let (session, opened) = snapshot(&db);
        assert_eq!(opened.recv_timeout(HANGS), Ok(Ok(())));
        session
    });
    let snapshots = snapshots.collect();
    (db, snapshots)
}

// G72
#[test]
fn snapshots_that_wait_for_their_callers_keep_no_other_from_being_served() {
    let (db, open) = all_open();
    assert_eq!(db.diagnostics().leases, open.len());
    let transaction = block_on(db.begin(None)).unwrap();
    let endless = ask(transaction.select(ENDLESS, ()));
    let (answered, answer) = mpsc::channel();
    open[7].select(
        query("SELECT 1", Token::default()),
        tell(move |told| answered.send(told).unwrap()),
    );
    assert_eq!(answer.recv_timeout(HANGS), Ok(Ok(())));
    drop(endless);
}

/// Has the snapshot read, and read again with each answer until `end`.
fn keep_reading(snapshot: &Arc<Session>, end: &Arc<AtomicBool>) {
    let (again, end) = (Arc::clone(snapshot), Arc::clone(end));
    snapshot.select(
        query("SELECT 1", Token::default()),
        tell(move |_| {
            if !end.load(Relaxed) {
                keep_reading(&again, &end);
            }
        }),
    );
}

// G72
#[test]
fn snapshots_that_never_run_out_of_steps_keep_no_other_from_being_served() {
    let (db, open) = all_open();
    let (end, open) = (Arc::<AtomicBool>::default(), open.into_iter().map(Arc::new));
    let open: Vec<_> = open.collect();
    open.iter().for_each(|snapshot| keep_reading(snapshot, &end));
    let (answered, answer) = mpsc::channel();
    db.engine().select(
        query("SELECT 1", Token::default()),
        tell(move |told| answered.send(told).unwrap()),
    );
    let told = answer.recv_timeout(HANGS);
    end.store(true, Relaxed);
    assert_eq!(told, Ok(Ok(())));
}

// G72
#[test]
fn a_snapshot_waits_while_as_many_as_may_be_are_open() {
    let (db, open) = all_open();
    let (_waiting, opened) = snapshot(&db);
    assert_eq!(db.diagnostics().leases_queued, 1);
    open[7].cancel();
    assert_eq!(opened.recv_timeout(HANGS), Ok(Ok(())));
}

#[test]
fn a_snapshot_that_is_cancelled_while_it_waits_is_answered_at_once() {
    let (db, _open) = all_open();
    let (waiting, opened) = snapshot(&db);
    waiting.cancel();
    db.engine().drop_cancelled();
    assert_eq!(opened.recv_timeout(HANGS), Ok(Err(Error::Aborted)));
}

// G81
#[test]
fn a_snapshot_that_waits_when_the_database_closes_is_told() {
    let (db, open) = all_open();
    let (waiting, opened) = snapshot(&db);
    let (closed, is_closed) = mpsc::channel();
    thread::spawn(move || closed.send(block_on(db.close())));
    // It may be opened after one that was ended before it.
    let told = opened.recv_timeout(HANGS).expect("it is told");
    assert!(matches!(told, Ok(()) | Err(Error::Closed)), "{told:?}");
    assert_eq!(is_closed.recv_timeout(HANGS), Ok(Ok(())));
    let (answered, answer) = mpsc::channel();
    waiting.select(
        query("SELECT 1", Token::default()),
        tell(move |told| answered.send(told).unwrap()),
    );
    assert_eq!(answer.recv(), Ok(Err(Error::Closed)));
    drop(open);
}

// G181
#[test]
fn diagnostics_tell_who_holds_a_connection_and_who_the_writer() {
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

#[test]
fn connections_that_are_too_many_after_snapshots_have_ended_are_closed_when_nobody_has_used_them_for_a_while()
{
    let fixture = Fixture::with("", readers(2));
    let open: Vec<_> = (0..6).map(|_| snapshot(&fixture.db)).collect();
    for (_, opened) in &open {
        assert_eq!(opened.recv_timeout(HANGS), Ok(Ok(())));
    }
    assert_eq!(fixture.db.diagnostics().readers, 6);
    drop(open);
    until(&fixture.db, |now| now.readers == 2);
}
