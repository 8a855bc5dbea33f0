//! Files that rest: without connections, until somebody uses them.

use std::{fs, path::Path, sync::mpsc, thread, time::Duration};

use resqlite::{Options, Resting, Value};
use resqlite_sqlite::Connection;

use crate::support::{Fixture, block_on, connect, next_integers, single};

fn soon() -> Options {
    Options {
        rest: Some(Resting::After(Duration::from_millis(30))),
        ..Options::default()
    }
}

/// Descriptors that this process has of a database and its log.
fn descriptors(path: &Path) -> usize {
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let names = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let path = path.to_str().unwrap();
    names
        .filter(|name| name.to_string_lossy().starts_with(path))
        .count()
}

/// Waits until the file rests, and for so long after its last write that another one would have another time.
fn wait_until_resting(path: &Path) {
    let is_old = || {
        let written = fs::metadata(path).unwrap().modified().unwrap();
        written.elapsed().is_ok_and(|age| age > Duration::from_millis(25))
    };
    while descriptors(path) > 0 || !is_old() {
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the connections were closed once, to rest.
fn wait_for_an_attempt(fixture: &Fixture) {
    fixture.integers("SELECT 1");
    while fixture.db.diagnostics().readers > 0 {
        thread::sleep(Duration::from_millis(5));
    }
}

/// A connection of another program, which waits while the file goes to rest or wakes.
fn stranger(fixture: &Fixture) -> Connection {
    let stranger = fixture.stranger();
    stranger.execute_script("PRAGMA busy_timeout = 60000").unwrap();
    stranger
}

/// A file that rests.
fn resting(schema: &str) -> Fixture {
    let fixture = Fixture::with(schema, soon());
    fixture.integers("SELECT 1");
    wait_until_resting(&fixture.path());
    fixture
}

// G386
#[test]
fn a_file_that_is_not_used_has_no_connection_and_no_log_and_the_next_call_opens_it() {
    let fixture = resting("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    assert!(!Path::new(&fixture.file("test.db-wal")).exists());
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
    let before = fixture.run("INSERT INTO t VALUES (2)").commit;
    wait_until_resting(&fixture.path());
    let after = fixture.run("INSERT INTO t VALUES (3)").commit;
    assert!(after > before, "{before:?} {after:?}");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1, 2, 3]);
    block_on(fixture.db.close()).unwrap();
}

#[test]
fn a_file_that_rests_can_be_closed() {
    let fixture = resting("CREATE TABLE t(a)");
    let path = fixture.path();
    block_on(fixture.db.close()).unwrap();
    assert_eq!(descriptors(&path), 0);
}

// G386
#[test]
fn a_live_query_of_a_file_that_rests_sees_what_others_commit() {
    let fixture = Fixture::with("CREATE TABLE t(a)", soon());
    let mut live = fixture.db.stream("SELECT a FROM t ORDER BY a", ());
    assert!(next_integers(&mut live).is_empty());
    let mut expected = Vec::new();
    for row in 0..20 {
        wait_until_resting(&fixture.path());
        let other = stranger(&fixture);
        other
            .execute_script(&format!("INSERT INTO t VALUES ({row})"))
            .unwrap();
        if row % 2 == 0 {
            drop(other);
        }
        expected.push(row);
        assert_eq!(next_integers(&mut live), expected);
    }
    block_on(fixture.db.close()).unwrap();
}

// G386
#[test]
fn a_live_query_of_a_file_that_rests_sees_what_is_committed_here() {
    let fixture = Fixture::with("CREATE TABLE t(a, b); CREATE INDEX t_a ON t(a)", soon());
    let mut all = fixture.db.stream("SELECT a FROM t ORDER BY a", ());
    let mut count = fixture.db.stream("SELECT count(*) FROM t", ());
    assert!(next_integers(&mut all).is_empty());
    assert_eq!(next_integers(&mut count), [0]);
    for row in 1..=10 {
        wait_until_resting(&fixture.path());
        fixture.run(&format!("INSERT INTO t VALUES ({row}, 0)"));
        assert_eq!(next_integers(&mut all), (1..=row).collect::<Vec<_>>());
        assert_eq!(next_integers(&mut count), [row]);
    }
    let external = fixture.db.diagnostics().streams.external_commits;
    assert_eq!(external, 0, "own commits are no external ones");
    block_on(fixture.db.close()).unwrap();
}

#[test]
fn what_others_commit_is_seen_after_a_rest_that_a_reader_has_ended() {
    let fixture = Fixture::with("CREATE TABLE t(a)", soon());
    let mut live = fixture.db.stream("SELECT count(*) FROM t", ());
    assert_eq!(next_integers(&mut live), [0]);
    for row in 1..=10 {
        wait_until_resting(&fixture.path());
        assert_eq!(fixture.integers("SELECT count(*) FROM t"), [row - 1]);
        insert(&stranger(&fixture));
        assert_eq!(next_integers(&mut live), [row]);
    }
    block_on(fixture.db.close()).unwrap();
}

#[test]
fn what_others_commit_is_seen_if_a_write_without_changes_ends_the_rest() {
    let fixture = Fixture::with("CREATE TABLE t(a)", soon());
    let mut live = fixture.db.stream("SELECT count(*) FROM t", ());
    assert_eq!(next_integers(&mut live), [0]);
    for row in 1..=10 {
        wait_until_resting(&fixture.path());
        insert(&stranger(&fixture));
        fixture.run("UPDATE t SET a = 2 WHERE 0");
        assert_eq!(next_integers(&mut live), [row]);
    }
    block_on(fixture.db.close()).unwrap();
}

#[test]
fn a_live_query_of_a_file_that_was_damaged_while_it_rested_fails() {
    let fixture = Fixture::with("CREATE TABLE t(a)", soon());
    let mut live = fixture.db.stream("SELECT a FROM t", ());
    assert!(next_integers(&mut live).is_empty());
    wait_until_resting(&fixture.path());
    fs::write(fixture.path(), [b'x'; 8192]).unwrap();
    let error = block_on(live.next()).unwrap().unwrap_err();
    assert_eq!(error.code(), "SQLITE_NOTADB", "{error}");
}

#[test]
fn a_schema_that_others_have_changed_meanwhile_is_known() {
    let fixture = resting("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    stranger(&fixture)
        .execute_script("ALTER TABLE t RENAME TO u; CREATE TABLE t(b, a); INSERT INTO t VALUES (2, 3)")
        .unwrap();
    fixture.run("INSERT INTO t VALUES (4, 5)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [3, 5]);
    block_on(fixture.db.close()).unwrap();
}

// G386
#[test]
fn a_file_that_was_replaced_while_it_rested_is_lost() {
    let fixture = resting("CREATE TABLE t(a)");
    let other = fixture.file("other.db");
    connect(&other)
        .unwrap()
        .execute_script("CREATE TABLE t(a)")
        .unwrap();
    fs::rename(&other, fixture.path()).unwrap();
    let read = block_on(fixture.db.select("SELECT a FROM t", ())).unwrap_err();
    assert_eq!(read.code(), "RESQLITE_FILES_LOST", "{read}");
    let written = fixture.fails("INSERT INTO t VALUES (1)");
    assert_eq!(written.code(), "RESQLITE_FILES_LOST", "{written}");
}

// G386
#[test]
fn a_file_that_was_replaced_before_it_rested_is_lost() {
    let fixture = Fixture::with("CREATE TABLE t(a); INSERT INTO t VALUES (1)", soon());
    let other = fixture.file("other.db");
    let rows = "CREATE TABLE t(a); INSERT INTO t VALUES (2)";
    connect(&other).unwrap().execute_script(rows).unwrap();
    fixture.integers("SELECT a FROM t");
    fs::rename(&other, fixture.path()).unwrap();
    let lost = loop {
        thread::sleep(Duration::from_millis(50));
        match block_on(fixture.db.select("SELECT a FROM t", ())) {
            Ok(rows) => assert_eq!(single(&rows), Value::Integer(1)),
            Err(error) => break error,
        }
    };
    assert_eq!(lost.code(), "RESQLITE_FILES_LOST", "{lost}");
}

#[test]
fn a_file_that_others_have_open_does_not_rest() {
    let fixture = Fixture::with("CREATE TABLE t(a)", soon());
    let stranger = stranger(&fixture);
    stranger.execute_script("SELECT a FROM t").unwrap();
    wait_for_an_attempt(&fixture);
    assert!(descriptors(&fixture.path()) > 0);
    fixture.run("INSERT INTO t VALUES (1)");
    assert!(Path::new(&fixture.file("test.db-wal")).exists());
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

#[test]
fn an_attempt_to_rest_beside_others_is_no_commit_of_theirs() {
    let fixture = Fixture::with("CREATE TABLE t(a)", soon());
    let mut live = fixture.db.stream("SELECT count(*) FROM t", ());
    assert_eq!(next_integers(&mut live), [0]);
    let stranger = stranger(&fixture);
    for row in 1..=3 {
        insert(&stranger);
        assert_eq!(next_integers(&mut live), [row]);
        // An attempt tells first of all that happened before.
        wait_for_an_attempt(&fixture);
        let external = || fixture.db.diagnostics().streams.external_commits;
        let before = external();
        wait_for_an_attempt(&fixture);
        wait_for_an_attempt(&fixture);
        assert_eq!(external(), before);
    }
}

#[test]
fn temporary_tables_and_attached_files_keep_a_file_awake() {
    let (temporary, attached) = (
        Fixture::with("CREATE TEMP TABLE u(a)", soon()),
        Fixture::with("CREATE TABLE t(a)", soon()),
    );
    attached.run(&format!("ATTACH '{}' AS other", attached.file("other.db")));
    // As long as this takes, another file has rested twice.
    let other = resting("CREATE TABLE t(a)");
    other.run("INSERT INTO t VALUES (1)");
    wait_until_resting(&other.path());
    for fixture in [temporary, attached] {
        assert!(descriptors(&fixture.path()) > 0);
    }
}

/// Whatever others do before, while and after the file goes to rest, live queries end with what the file has.
// G386
#[test]
fn no_commit_of_others_is_missed_around_a_rest() {
    let first = dice::first_seed();
    for seed in first..first + dice::throws(400) {
        let mut rng = dice::Rng(seed);
        let fixture = Fixture::with("CREATE TABLE t(a)", soon());
        let mut live = fixture.db.stream("SELECT count(*) FROM t", ());
        assert_eq!(next_integers(&mut live), [0]);
        let (tell, told) = mpsc::channel();
        let listener = thread::spawn(move || {
            while let Some(Ok(emitted)) = block_on(live.next()) {
                let row = emitted.rows().iter().next().expect("a count");
                if tell.send(row.values()[0].clone()).is_err() {
                    return;
                }
            }
        });
        let mut dormant = Vec::new();
        for _ in 0..12 {
            match rng.below(6) {
                0 => drop(fixture.run("INSERT INTO t VALUES (1)")),
                1 => drop(fixture.integers("SELECT a FROM t LIMIT 1")),
                2 => dormant.push(stranger(&fixture)),
                3 => drop(dormant.pop()),
                4 if !dormant.is_empty() => insert(&dormant[0]),
                _ => insert(&stranger(&fixture)),
            }
            if rng.below(3) > 0 {
                thread::sleep(Duration::from_micros(rng.below(70_000) as u64));
            }
        }
        let expected = single(&fixture.select("SELECT count(*) FROM t"));
        let mut seen = Value::Integer(0);
        while seen != expected {
            let next = told.recv_timeout(Duration::from_secs(60));
            seen =
                next.unwrap_or_else(|_| panic!("seed {seed}: {seen:?} is shown, and {expected:?} is there"));
        }
        drop(told);
        fixture.run("INSERT INTO t VALUES (1)");
        listener.join().unwrap();
    }
}

fn insert(stranger: &Connection) {
    let sql = "INSERT INTO t VALUES (1)";
    stranger.execute_script(sql).unwrap();
}
