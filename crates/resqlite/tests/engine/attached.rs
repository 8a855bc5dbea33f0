//! Databases that the writer attaches are there for every reader.

use std::time::Duration;

use resqlite::Options;

use crate::support::{Fixture, ask, block_on, connect, hold_reader, integers, open, readers};

fn attached(readers: usize) -> Fixture {
    let fixture = Fixture::with(
        "CREATE TABLE t(a)",
        Options {
            readers: Some(readers),
            ..Options::default()
        },
    );
    fixture.select("SELECT * FROM t");
    let file = fixture.file("it's other.db").replace('\'', "''");
    fixture.run(&format!("ATTACH '{file}' AS other"));
    fixture.exec("CREATE TABLE other.u(a); INSERT INTO other.u VALUES (1), (2)");
    fixture
}

// G37
#[test]
fn an_attached_database_is_visible_to_select() {
    let fixture = attached(2);
    assert_eq!(fixture.integers("SELECT a FROM other.u"), [1, 2]);
}

// G37
#[test]
fn an_attached_database_is_visible_to_snapshots_and_cursors() {
    let fixture = attached(2);
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    assert_eq!(
        integers(&block_on(snapshot.select("SELECT a FROM other.u", ())).unwrap()),
        [1, 2]
    );
    let mut cursor = block_on(fixture.db.iterate("SELECT a FROM other.u", (), 10)).unwrap();
    assert_eq!(integers(&block_on(cursor.next_batch()).unwrap().unwrap()), [1, 2]);
}

#[test]
fn an_attached_database_is_visible_to_reads_that_wait_together() {
    let fixture = Fixture::with(
        "CREATE TABLE t(a)",
        Options {
            readers: Some(1),
            ..Options::default()
        },
    );
    let held = hold_reader(&fixture.db);
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.exec("CREATE TABLE other.u(a); INSERT INTO other.u VALUES (1)");
    let reads: Vec<_> = (0..5)
        .map(|_| ask(fixture.db.select("SELECT a FROM other.u", ())))
        .collect();
    held.release().unwrap();
    for read in reads {
        assert_eq!(integers(&read.wait().unwrap()), [1]);
    }
}

// G37
#[test]
fn a_detached_database_is_gone_for_every_reader() {
    let fixture = attached(1);
    fixture.select("SELECT a FROM other.u");
    fixture.run("DETACH other");
    assert_eq!(
        block_on(fixture.db.select("SELECT a FROM other.u", ()))
            .unwrap_err()
            .code(),
        "SQLITE_ERROR"
    );
}

#[test]
fn a_name_that_is_attached_to_another_file_shows_the_other_file() {
    let fixture = attached(1);
    fixture.select("SELECT a FROM other.u");
    fixture.run("DETACH other");
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("third.db")));
    fixture.exec("CREATE TABLE other.u(a); INSERT INTO other.u VALUES (3)");
    assert_eq!(fixture.integers("SELECT a FROM other.u"), [3]);
}

#[test]
fn a_name_follows_the_schema_in_which_it_is_found_first() {
    let fixture = attached(1);
    let named = || block_on(fixture.db.select("SELECT b FROM v", ())).map(|rows| rows.len());
    fixture.exec("CREATE TABLE other.v(a, b); INSERT INTO other.v VALUES (1, 2)");
    assert_eq!(named().unwrap(), 1);
    fixture.exec("CREATE TABLE main.v(a)");
    assert_eq!(
        named().unwrap_err().code(),
        "SQLITE_ERROR",
        "main.v has no such column"
    );
    fixture.run("INSERT INTO v VALUES (7)");
    assert_eq!(fixture.integers("SELECT a FROM main.v"), [7]);
    fixture.exec("DROP TABLE main.v");
    assert_eq!(named().unwrap(), 1);
}

// G37
#[test]
fn a_snapshot_shows_one_state_of_all_databases() {
    one_state_is_shown(&attached(2));
}

// G37
#[test]
fn a_snapshot_shows_one_state_also_where_the_writer_never_waits_for_readers() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    // resqlite leaves it with a write-ahead log.
    block_on(open(&fixture.file("other.db")).unwrap().close()).unwrap();
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    one_state_is_shown(&fixture);
}

/// Adds 1 to a number in each database, again and again, and compares the numbers that snapshots and single queries show.
fn one_state_is_shown(fixture: &Fixture) {
    fixture.exec("CREATE TABLE main.x(v); CREATE TABLE other.y(v)");
    fixture.exec("INSERT INTO x VALUES (0); INSERT INTO y VALUES (0)");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..300 {
                fixture.exec("UPDATE main.x SET v = v + 1; UPDATE other.y SET v = v + 1");
            }
        });
        while !writer.is_finished() {
            let snapshot = block_on(fixture.db.snapshot()).unwrap();
            let of = |sql| integers(&block_on(snapshot.select(sql, ())).unwrap());
            assert_eq!(of("SELECT v FROM main.x"), of("SELECT v FROM other.y"));
            drop(snapshot);
            assert_eq!(fixture.integers("SELECT x.v - y.v FROM main.x, other.y"), [0]);
        }
    });
}

// G193
#[test]
fn a_commit_that_waits_too_long_for_a_reader_of_one_file_reaches_none() {
    let fixture = Fixture::with(
        "CREATE TABLE t(a)",
        Options {
            busy_timeout: Some(Duration::ZERO),
            ..Options::default()
        },
    );
    // Without a write-ahead log, whoever reads the file is in the way.
    let other = fixture.file("other.db");
    let reader = connect(&other).unwrap();
    reader
        .execute_script("CREATE TABLE u(a); INSERT INTO u VALUES (1)")
        .unwrap();
    fixture.run(&format!("ATTACH '{other}' AS other"));
    let both = "INSERT INTO t VALUES (2); INSERT INTO u VALUES (2)";

    reader.execute_script("BEGIN; SELECT * FROM u").unwrap();
    let refused = block_on(fixture.db.exec(both)).unwrap_err();
    assert_eq!(refused.code(), "SQLITE_BUSY", "{refused}");
    assert_eq!(fixture.integers("SELECT a FROM t UNION ALL SELECT a FROM u"), [1]);

    reader.execute_script("COMMIT").unwrap();
    fixture.exec(both);
    assert_eq!(
        fixture.integers("SELECT a FROM t UNION ALL SELECT a FROM u"),
        [2, 1, 2]
    );
}

/// Attaches a file, whose name is a parameter.
fn attach(fixture: &Fixture, file: &str) -> resqlite::Result<resqlite::WriteResult> {
    block_on(fixture.db.execute("ATTACH ? AS other", [file.into()]))
}

// G37
#[test]
fn a_database_without_a_file_is_not_attached() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    for file in [
        ":memory:",
        "",
        "file::memory:",
        "file:x?mode=memory",
        "file:/x?vfs=memdb",
    ] {
        let error = attach(&fixture, file).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_STATEMENT", "{file}");
        assert!(
            error
                .to_string()
                .contains("\"other\" was not attached: a database in memory"),
            "{error}"
        );
        assert_eq!(fixture.run("PRAGMA database_list").rows.len(), 1, "{file}");
    }
    let script = block_on(fixture.db.exec("ATTACH ':memory:' AS m; CREATE TABLE m.t(a)"));
    assert_eq!(script.unwrap_err().code(), "RESQLITE_STATEMENT");
    fixture.exec("ATTACH ':memory:' AS m; CREATE TABLE m.t(a); INSERT INTO m.t VALUES (1); DETACH m");
}

// G37
#[cfg(unix)]
#[test]
fn a_file_that_is_open_already_is_not_attached_however_its_path_is_written() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let path = fixture.path().to_str().unwrap().to_owned();
    let symbolic = fixture.file("symbolic.db");
    std::os::unix::fs::symlink(&path, &symbolic).unwrap();
    let spelled = fixture.file("./test.db");
    for file in [&path, &symbolic, &spelled, &format!("file:{path}?cache=private")] {
        let error = attach(&fixture, file).unwrap_err();
        assert!(
            error.to_string().contains("it is the file of \"main\""),
            "{file}: {error}"
        );
        fixture.run("INSERT INTO t VALUES (1)");
    }
    let other = fixture.file("other.db");
    attach(&fixture, &other).unwrap();
    fixture.exec("CREATE TABLE other.u(a)");
    let twice = block_on(fixture.db.execute("ATTACH ? AS again", [other.as_str().into()]));
    assert!(
        twice
            .unwrap_err()
            .to_string()
            .contains("it is the file of \"other\"")
    );
    fixture.run("INSERT INTO other.u VALUES (1)");
    assert_eq!(fixture.integers("SELECT a FROM other.u"), [1]);
}

// G199
#[test]
fn a_reader_that_could_not_read_an_attached_database_shows_no_old_state_afterwards() {
    let fixture = Fixture::with(
        "CREATE TABLE t(a)",
        Options {
            readers: Some(1),
            busy_timeout: Some(Duration::from_millis(10)),
            ..Options::default()
        },
    );
    let other = fixture.file("other.db");
    fixture.run(&format!("ATTACH '{other}' AS other"));
    fixture.exec("CREATE TABLE other.u(a)");
    assert_eq!(fixture.integers("SELECT count(*) FROM t, other.u"), [0]);
    let stranger = connect(&other).unwrap();
    stranger.execute_script("BEGIN EXCLUSIVE").unwrap();
    let mut live = fixture.db.stream("SELECT a FROM t", ());
    let refused = block_on(live.next()).unwrap().unwrap_err();
    assert_eq!(refused.code(), "SQLITE_BUSY");
    stranger.execute_script("COMMIT").unwrap();
    fixture.run("INSERT INTO t VALUES (1)");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

// G199
#[test]
fn a_read_that_meets_a_detach_leaves_nothing_open() {
    let fixture = Fixture::with("CREATE TABLE t(a)", readers(1));
    let other = fixture.folder.path().join("other.db");
    std::thread::scope(|scope| {
        for n in 0..300 {
            attach(&fixture, other.to_str().unwrap()).unwrap();
            let reading = scope.spawn(|| fixture.integers("SELECT 1"));
            fixture.run("DETACH other");
            reading.join().unwrap();
            fixture.run("INSERT INTO t VALUES (1)");
            assert_eq!(fixture.integers("SELECT count(*) FROM t"), [n + 1]);
        }
    });
}
