//! Queries on the threads of their callers: what they show, and what ends them.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::{fs, thread, time::Duration};

use resqlite::{
    CheckpointMode, Database, Options, Params, Resting, Rows, Value,
    binding::{GivenUp, InlineQuery, Integers},
};

use crate::support::{Fixture, block_on, integers};

/// Tries once.
fn try_to(db: &Database, sql: &str, params: &Params) -> Result<Rows, GivenUp> {
    let mut rows = Rows::default();
    let query = InlineQuery {
        sql: &sql.into(),
        params,
        integers: Integers::BigInt,
        first: false,
        columns: false,
    };
    let ran = db.engine().select_inline(&query, |ran| {
        rows.extend(ran.layout, &ran.batch.to_bytes());
        true
    });
    ran.map(|()| rows)
}

/// Tries until the moment is right. The time may be over because other threads had the processor.
fn run(db: &Database, sql: &str, params: &Params) -> Result<Rows, GivenUp> {
    loop {
        match try_to(db, sql, params) {
            Err(reason) if !reason.is_of_statement() || reason == GivenUp::Time => thread::yield_now(),
            done => return done,
        }
    }
}

fn numbers(db: &Database, sql: &str) -> Vec<i64> {
    integers(&run(db, sql, &Params::default()).unwrap())
}

const TABLE: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 10), (2, 20)";

// G401
#[test]
fn a_query_runs_once_a_worker_has_prepared_it() {
    let fixture = Fixture::new(TABLE);
    let sql = "SELECT a FROM t WHERE id = ?";
    let params = Params::from([Value::Integer(2)]);
    assert_eq!(
        try_to(&fixture.db, sql, &params).unwrap_err(),
        GivenUp::NotPrepared
    );
    assert_eq!(integers(&run(&fixture.db, sql, &params).unwrap()), [20]);
    let first = Params::from([Value::Integer(1)]);
    assert_eq!(integers(&try_to(&fixture.db, sql, &first).unwrap()), [10]);
}

// G402
#[test]
fn it_shows_what_was_committed_before_whoever_has() {
    let fixture = Fixture::new("CREATE TABLE t(n); INSERT INTO t VALUES (0)");
    let (stranger, sql) = (fixture.stranger(), "SELECT n FROM t");
    for n in 1..200 {
        let write = format!("UPDATE t SET n = {n}");
        if n % 2 == 0 {
            fixture.run(&write);
        } else {
            stranger.execute_script(&write).unwrap();
        }
        assert_eq!(numbers(&fixture.db, sql), [n]);
    }
}

// G402
#[test]
fn beside_a_writer_it_never_goes_back() {
    let fixture = Fixture::new("CREATE TABLE t(n); INSERT INTO t VALUES (0)");
    let db = &fixture.db;
    thread::scope(|scope| {
        let last = 500;
        scope.spawn(move || {
            for _ in 0..last {
                block_on(db.execute("UPDATE t SET n = n + 1", ())).unwrap();
            }
        });
        let mut shown = 0;
        while shown < last {
            let now = numbers(db, "SELECT n FROM t")[0];
            assert!(now >= shown, "{now} after {shown}");
            shown = now;
        }
    });
}

// G402
#[test]
fn a_schema_that_has_changed_is_followed_whoever_has_changed_it() {
    let fixture = Fixture::new(TABLE);
    let (stranger, sql) = (fixture.stranger(), "SELECT * FROM t");
    let columns = || run(&fixture.db, sql, &Params::default()).unwrap().columns().len();
    assert_eq!(columns(), 2);
    fixture.exec("ALTER TABLE t ADD COLUMN b");
    assert_eq!(columns(), 3);
    stranger.execute_script("ALTER TABLE t ADD COLUMN c").unwrap();
    assert_eq!(columns(), 4);
    fixture.exec("DROP TABLE t; CREATE TABLE t(only)");
    assert_eq!(columns(), 1);
}

// G403
#[test]
fn what_takes_long_is_given_up() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT max(i) FROM n";
    let most = |most| Params::from([Value::Integer(most)]);
    assert_eq!(integers(&run(&fixture.db, sql, &most(3)).unwrap()), [3]);
    let endless = || try_to(&fixture.db, sql, &most(i64::MAX)).unwrap_err();
    while endless() != GivenUp::Time {}
    assert_eq!(integers(&run(&fixture.db, sql, &most(4)).unwrap()), [4]);
}

// G403
#[test]
fn what_reads_many_pages_is_given_up() {
    // Nine pages a row, so that it has read too many before it looks at the clock.
    let options = Options {
        pragmas: vec![("page_size".into(), "512".into())],
        ..Options::default()
    };
    let fixture = Fixture::with("CREATE TABLE t(id INTEGER PRIMARY KEY, a)", options);
    fixture.run("INSERT INTO t SELECT value, printf('%.4000c', 'x') FROM generate_series(1, 100)");
    block_on(fixture.db.checkpoint(CheckpointMode::Truncate)).unwrap();
    let sql = "SELECT sum(length(trim(a))) FROM t WHERE id <= ?";
    let up_to = |most| Params::from([Value::Integer(most)]);
    assert_eq!(integers(&run(&fixture.db, sql, &up_to(3)).unwrap()), [12_000]);
    assert_eq!(run(&fixture.db, sql, &up_to(100)).unwrap_err(), GivenUp::Disk);
}

// G403
#[test]
fn what_is_large_is_given_up() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a)");
    fixture.run("INSERT INTO t SELECT value, 'x' FROM generate_series(1, 100)");
    fixture.run("INSERT INTO t SELECT value, zeroblob(4000) FROM generate_series(200, 202)");
    fixture.run("INSERT INTO t VALUES (300, zeroblob(5000))");
    let sql = "SELECT a FROM t WHERE id BETWEEN ?1 AND ?2";
    let between = |least, most| {
        let params = Params::from([Value::Integer(least), Value::Integer(most)]);
        run(&fixture.db, sql, &params).map(|rows| rows.len())
    };
    assert_eq!(between(1, 64), Ok(64));
    assert_eq!(between(1, 65), Err(GivenUp::Large), "rows");
    assert_eq!(between(200, 201), Ok(2));
    assert_eq!(between(200, 202), Err(GivenUp::Large), "the result");
    assert_eq!(between(300, 300), Err(GivenUp::Large), "a value");
    assert_eq!(between(1, 1), Ok(1));
}

// G403
#[test]
fn what_fails_is_given_up_so_that_its_error_is_told_elsewhere() {
    let fixture = Fixture::new(TABLE);
    let sql = "SELECT abs(?)";
    let overflows = Params::from([Value::Integer(i64::MIN)]);
    let is_fit = Params::from([Value::Integer(-1)]);
    assert_eq!(integers(&run(&fixture.db, sql, &is_fit).unwrap()), [1]);
    assert_eq!(run(&fixture.db, sql, &overflows).unwrap_err(), GivenUp::Error);
    assert_eq!(integers(&run(&fixture.db, sql, &is_fit).unwrap()), [1]);
}

// G403
#[test]
fn what_may_take_any_time_in_one_step_never_runs() {
    let fixture = Fixture::new("CREATE TABLE t(a); CREATE VIRTUAL TABLE v USING fts5(a)");
    let unfit = [
        "SELECT a LIKE '%x%y' FROM t",
        "SELECT instr(a, 'x') FROM t",
        "SELECT count(*) FROM t",
        "SELECT trim(a, 'xyz') FROM t",
        "SELECT unhex(a, 'x') FROM t",
        "SELECT strftime(a, 'now') FROM t",
        "SELECT json_extract(a, '$.x') FROM t",
        "SELECT replace(a, 'x', 'y') FROM t",
        "SELECT a FROM v",
        "SELECT a FROM t ORDER BY a COLLATE NOCASE",
        "SELECT count(*) FROM t GROUP BY a COLLATE NOCASE",
        "PRAGMA cache_size",
        "SELECT value FROM json_each('[1]')",
        "SELECT group_concat(a) FROM t",
        "SELECT regexp('a', a) FROM t",
        "PRAGMA integrity_check",
        "INSERT INTO t VALUES (1)",
        "no SQL",
    ];
    for sql in unfit {
        let tried = run(&fixture.db, sql, &Params::default());
        assert_eq!(tried.unwrap_err(), GivenUp::Unfit, "{sql}");
    }
}

// G403
#[test]
fn a_connection_with_much_in_its_cache_follows_a_commit_on_a_worker() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE other(a)");
    fixture.run("INSERT INTO t SELECT value, printf('%.4000c', 'x') FROM generate_series(1, 1000)");
    let sql = "SELECT length(a) FROM t WHERE id = ?";
    let length = |id| run(&fixture.db, sql, &Params::from([Value::Integer(id)])).map(|rows| integers(&rows));
    (1..=1000).for_each(|id| assert_eq!(length(id).unwrap(), [4000]));
    fixture.run("INSERT INTO other VALUES (1)");
    let behind = |db: &Database| {
        let counts = db.diagnostics().inline;
        counts
            .given_up
            .into_iter()
            .find(|&(reason, _)| reason == GivenUp::Behind)
            .unwrap()
            .1
    };
    let before = behind(&fixture.db);
    assert_eq!(length(1).unwrap(), [4000]);
    assert!(behind(&fixture.db) > before);
}

// G403
#[test]
fn a_program_that_is_long_without_a_loop_never_runs() {
    let fixture = Fixture::new(TABLE);
    let calls = |count| vec!["length(trim(a))"; count].join(" + ");
    let select = |count| {
        run(
            &fixture.db,
            &format!("SELECT {} FROM t", calls(count)),
            &Params::default(),
        )
    };
    assert!(select(16).is_ok());
    assert_eq!(select(17).unwrap_err(), GivenUp::Unfit, "34 calls of functions");
    let sums = format!("SELECT {} FROM t", vec!["a"; 250].join(" + "));
    assert_eq!(
        run(&fixture.db, &sums, &Params::default()).unwrap_err(),
        GivenUp::Unfit
    );
}

// G405
#[test]
fn the_log_starts_anew_beside_a_caller_that_goes_on() {
    let fixture = Fixture::new(TABLE);
    for _ in 0..20 {
        fixture.run("UPDATE t SET a = a + 1");
        numbers(&fixture.db, "SELECT a FROM t");
        let done = block_on(fixture.db.checkpoint(CheckpointMode::Truncate)).unwrap();
        assert!(!done.busy, "{done:?}");
    }
}

// G405
#[test]
fn a_read_that_nobody_uses_is_not_held() {
    use resqlite_sqlite::Checkpoint::Truncate;
    let fixture = Fixture::new(TABLE);
    let stranger = fixture.stranger();
    numbers(&fixture.db, "SELECT a FROM t");
    stranger.execute_script("UPDATE t SET a = a + 1").unwrap();
    while stranger.checkpoint("main", Truncate).unwrap().busy {
        thread::sleep(Duration::from_millis(5));
    }
}

// G405
#[test]
fn another_program_can_start_the_log_anew_beside_a_caller_that_goes_on() {
    use resqlite_sqlite::Checkpoint::Truncate;
    let fixture = Fixture::new(TABLE);
    let stranger = fixture.stranger();
    let starts_anew = || {
        stranger.execute_script("UPDATE t SET a = a + 1").unwrap();
        while stranger.checkpoint("main", Truncate).unwrap().busy {
            (0..100).for_each(|_| drop(numbers(&fixture.db, "SELECT a FROM t")));
        }
    };
    starts_anew();
    // Longer than the connection is looked after that nobody uses.
    thread::sleep(Duration::from_millis(100));
    numbers(&fixture.db, "SELECT a FROM t");
    starts_anew();
}

// G405
#[test]
fn a_file_rests_whose_queries_ran_so_and_wakes_for_the_next() {
    let fixture = Fixture::with(
        TABLE,
        Options {
            rest: Some(Resting::After(Duration::from_millis(30))),
            ..Options::default()
        },
    );
    numbers(&fixture.db, "SELECT a FROM t");
    let log = fixture.file("test.db-wal");
    while fs::exists(&log).unwrap() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(numbers(&fixture.db, "SELECT a FROM t"), [10, 20]);
    fixture.run("DELETE FROM t");
    assert!(numbers(&fixture.db, "SELECT a FROM t").is_empty());
}

// G403
#[test]
fn beside_attached_databases_it_is_given_up() {
    let fixture = Fixture::new(TABLE);
    numbers(&fixture.db, "SELECT a FROM t");
    let other = fixture.file("other.db");
    fixture.run(&format!("ATTACH '{other}' AS other"));
    let tried = || try_to(&fixture.db, "SELECT a FROM t", &Params::default()).unwrap_err();
    for _ in 0..100 {
        assert!(matches!(tried(), GivenUp::Schema | GivenUp::NoConnection));
        thread::yield_now();
    }
    fixture.run("DETACH other");
    assert_eq!(numbers(&fixture.db, "SELECT a FROM t"), [10, 20]);
}

// G401
#[test]
fn with_the_option_nothing_runs_so() {
    let options = Options {
        inline: Some(false),
        ..Options::default()
    };
    let fixture = Fixture::with(TABLE, options);
    let tried = try_to(&fixture.db, "SELECT a FROM t", &Params::default());
    assert_eq!(tried.unwrap_err(), GivenUp::NoConnection);
    assert_eq!(fixture.db.diagnostics().inline.run, 0);
}

// G401
#[test]
fn what_ran_so_is_counted() {
    let fixture = Fixture::new(TABLE);
    (0..10).for_each(|_| drop(numbers(&fixture.db, "SELECT a FROM t")));
    let counts = fixture.db.diagnostics().inline;
    assert_eq!(counts.run, 10);
    assert!(counts.longest > Duration::ZERO);
    assert!(counts.given_up.contains(&(GivenUp::Error, 0)));
    assert!(
        counts
            .given_up
            .iter()
            .any(|&(reason, count)| reason == GivenUp::NotPrepared && count > 0)
    );
}

// G405
#[test]
fn a_closed_database_leaves_nothing_open_of_it() {
    let fixture = Fixture::new(TABLE);
    numbers(&fixture.db, "SELECT a FROM t");
    let folder = fixture.folder.path().to_owned();
    block_on(fixture.db.close()).unwrap();
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let names = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    assert_eq!(names.filter(|name| name.starts_with(&folder)).count(), 0);
}
