//! Change feeds: every commit, in order, until its consumer has acknowledged it.

use std::{path::Path, time::Duration};

use resqlite::{
    BackupOptions, Database, Options, Value,
    feeds::{ChangeFeed, FeedCommit, FeedOptions, Gap, Keep},
    log::Position,
};

use crate::support::{Fixture, ask, block_on, connect, integers, open, open_with, summary_of, table, told};

fn fixture() -> Fixture {
    Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
}

fn feed(fixture: &Fixture) -> ChangeFeed {
    feed_of(fixture, "one")
}

fn feed_of(fixture: &Fixture, name: &str) -> ChangeFeed {
    feed_in(&fixture.db, name)
}

fn feed_in(db: &Database, name: &str) -> ChangeFeed {
    block_on(db.feed(FeedOptions::named(name))).unwrap()
}

/// Closes the database of this path, and opens it again.
fn reopened(db: Database, path: &Path) -> Database {
    block_on(db.close()).unwrap();
    open(path.to_str().unwrap()).unwrap()
}

fn keeping(name: &str, keep: Keep) -> FeedOptions {
    FeedOptions {
        keep: Some(keep),
        ..FeedOptions::named(name)
    }
}

fn next(feed: &mut ChangeFeed) -> FeedCommit {
    block_on(feed.next()).unwrap()
}

fn next_told(feed: &mut ChangeFeed) -> Vec<String> {
    told(&next(feed).entry)
}

fn insert(fixture: &Fixture, id: i64) {
    fixture.run(&format!("INSERT INTO t VALUES ({id}, 'x')"));
}

fn acknowledge(feed: &mut ChangeFeed, commit: &FeedCommit) {
    block_on(feed.acknowledge(commit.entry.position())).unwrap();
}

/// The positions that are kept.
fn kept(fixture: &Fixture) -> Vec<i64> {
    fixture.integers("SELECT position FROM _resqlite_changes ORDER BY 1")
}

fn own_tables(fixture: &Fixture) -> i64 {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name GLOB '_resqlite_*'";
    fixture.integers(sql)[0]
}

/// How many commits without an entry this adds to those that other processes know of.
fn counted(fixture: &Fixture, work: impl FnOnce()) -> i64 {
    let count = || fixture.integers("SELECT other_commits FROM _resqlite_feed_state")[0];
    let before = count();
    work();
    count() - before
}

// G313
#[test]
fn a_feed_has_each_commit_since_it_was_made_in_order_and_exactly() {
    let fixture = fixture();
    insert(&fixture, 1);
    let mut feed = feed(&fixture);
    assert_eq!(feed.position(), Position(0));
    fixture.run("INSERT INTO t VALUES (9223372036854775807, 0.5)");
    fixture.exec("UPDATE t SET a = x'00' WHERE id = 1; DELETE FROM t WHERE id > 1");
    fixture.exec("ALTER TABLE t RENAME a TO b");
    assert_eq!(
        next_told(&mut feed),
        ["+ t 9223372036854775807 (9223372036854775807, 0.5)"]
    );
    assert_eq!(
        next_told(&mut feed),
        [
            "* t 1 (1, 'x') 1 (1, [0])",
            "- t 9223372036854775807 (9223372036854775807, 0.5)"
        ]
    );
    assert_eq!(next_told(&mut feed), ["ALTER TABLE t RENAME a TO b"]);
    assert_eq!(feed.position(), Position(3));
}

#[test]
fn a_table_tells_its_declared_key_and_whether_it_is_internal() {
    let fixture = Fixture::new(
        "CREATE TABLE k(a, b, c, PRIMARY KEY (c, a)); CREATE TABLE w(a, b PRIMARY KEY) WITHOUT ROWID;
         CREATE TABLE n(a); CREATE VIRTUAL TABLE f USING fts5(a)",
    );
    let mut feed = feed(&fixture);
    fixture.exec("INSERT INTO k VALUES (1, 2, 3); INSERT INTO w VALUES (1, 2); INSERT INTO n VALUES (1)");
    fixture.exec("INSERT INTO f VALUES ('word')");
    let tables = |commit: &FeedCommit| -> Vec<_> {
        let tables = commit.entry.operations().filter_map(|operation| match operation {
            resqlite::log::Operation::Insert { table, .. }
            | resqlite::log::Operation::Update { table, .. } => {
                Some((table.name.clone(), table.primary_key.clone(), table.is_internal))
            }
            _ => None,
        });
        tables.collect()
    };
    let ordinary = [("k", vec![2, 0]), ("w", vec![1]), ("n", vec![])];
    assert_eq!(
        tables(&next(&mut feed)),
        ordinary.map(|(name, key)| (name.to_owned(), key, false))
    );
    let shadow = tables(&next(&mut feed));
    assert!(
        shadow
            .iter()
            .all(|(name, _, is_internal)| name.starts_with("f_") && *is_internal)
    );
    assert!(!shadow.is_empty());
}

// G313
#[test]
fn what_was_not_acknowledged_comes_again_after_the_file_was_closed() {
    let fixture = fixture();
    let mut first = feed(&fixture);
    (1..=3).for_each(|id| insert(&fixture, id));
    let commit = next(&mut first);
    acknowledge(&mut first, &commit);
    next(&mut first);
    drop(first);
    let path = fixture.path();
    let db = reopened(fixture.db, &path);
    block_on(db.execute("INSERT INTO t VALUES (4, 4)", ())).unwrap();
    let mut feed = feed_in(&db, "one");
    let positions: Vec<_> = (0..3).map(|_| next(&mut feed).entry.position()).collect();
    assert_eq!(
        (feed.position(), positions),
        (Position(4), vec![Position(2), Position(3), Position(4)])
    );
}

// G314
#[test]
fn a_consumer_may_begin_at_a_position_of_its_own() {
    let fixture = fixture();
    let _keeps = feed_of(&fixture, "other");
    (1..=3).for_each(|id| insert(&fixture, id));
    let after = |after| {
        block_on(fixture.db.feed(FeedOptions {
            after: Some(Position(after)),
            ..FeedOptions::named("one")
        }))
    };
    assert_eq!(next_told(&mut after(1).unwrap()), ["+ t 2 (2, 'x')"]);
    assert_eq!(next_told(&mut after(0).unwrap()), ["+ t 1 (1, 'x')"]);
    let error = after(4).err().unwrap();
    assert_eq!(error.code(), "RESQLITE_FEED_LOST");
    assert!(error.to_string().contains("older copy"), "{error}");
}

// G314
#[test]
fn a_position_that_no_commit_has_yet_cannot_be_acknowledged() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    insert(&fixture, 1);
    let error = block_on(feed.acknowledge(Position(2))).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_OPTION");
    assert!(error.to_string().contains("the newest commit has 1"), "{error}");
    insert(&fixture, 2);
    assert_eq!(next_told(&mut feed), ["+ t 1 (1, 'x')"]);
    assert_eq!(next_told(&mut feed), ["+ t 2 (2, 'x')"]);
}

const TABLES: [&str; 4] = [
    "_resqlite_changes",
    "_resqlite_feed_state",
    "_resqlite_feeds",
    "_resqlite_position",
];

fn is_lost<T>(done: resqlite::Result<T>) -> bool {
    done.is_err_and(|error| error.code() == "RESQLITE_FEED_LOST")
}

/// Writes, then has the feed made again, and sees that it tells what follows.
fn goes_on_with_a_new_feed(db: &Database, after: &str) {
    block_on(db.execute("INSERT INTO t VALUES (2, 2)", ()))
        .unwrap_or_else(|error| panic!("{after}: {error}"));
    assert!(
        is_lost(block_on(db.feed(FeedOptions::named("one")))),
        "opened after {after}"
    );
    block_on(db.drop_feed("one")).unwrap();
    let mut feed = feed_in(db, "one");
    block_on(db.execute("INSERT INTO t VALUES (3, 3)", ())).unwrap();
    assert_eq!(next_told(&mut feed), ["+ t 3 (3, 3)"], "{after}");
}

// G319
#[test]
fn tables_that_another_program_drops_or_empties_stop_no_write_and_the_feed_can_be_made_again() {
    let empties = TABLES[1..].iter().filter(|table| **table != "_resqlite_feeds");
    let empties = empties.map(|table| format!("DELETE FROM {table}"));
    let drops = TABLES.iter().map(|table| format!("DROP TABLE {table}"));
    for damage in empties.chain(drops) {
        for is_open in [true, false] {
            let fixture = fixture();
            drop(feed(&fixture));
            insert(&fixture, 1);
            let path = fixture.path();
            let Fixture { db, folder: _folder } = fixture;
            let db = if is_open {
                connect(path.to_str().unwrap())
                    .unwrap()
                    .execute_script(&damage)
                    .unwrap();
                db
            } else {
                block_on(db.close()).unwrap();
                connect(path.to_str().unwrap())
                    .unwrap()
                    .execute_script(&damage)
                    .unwrap();
                open(path.to_str().unwrap()).unwrap()
            };
            goes_on_with_a_new_feed(&db, &format!("{damage}, open: {is_open}"));
        }
    }
}

// G319
#[test]
fn a_consumer_at_work_is_told_so_when_another_program_drops_all_tables() {
    let fixture = fixture();
    let mut reader = feed(&fixture);
    insert(&fixture, 1);
    let commit = next(&mut reader);
    let all = TABLES.map(|table| format!("DROP TABLE {table};")).concat();
    fixture.stranger().execute_script(&all).unwrap();
    assert!(is_lost(block_on(reader.acknowledge(commit.entry.position()))));
    assert!(is_lost(block_on(reader.next())));
    goes_on_with_a_new_feed(&fixture.db, &all);
    assert!(is_lost(block_on(reader.next())), "positions have begun anew");
}

// G319
#[test]
fn every_consumer_learns_of_tables_that_another_program_has_dropped() {
    for table in TABLES {
        let fixture = fixture();
        let mut others = [feed(&fixture), feed_of(&fixture, "two")];
        insert(&fixture, 1);
        others.iter_mut().for_each(|other| {
            let commit = next(other);
            acknowledge(other, &commit);
        });
        fixture
            .stranger()
            .execute_script(&format!("DROP TABLE {table}"))
            .unwrap();
        goes_on_with_a_new_feed(&fixture.db, table);
        let of_another_name = block_on(others[1].next());
        assert!(is_lost(of_another_name), "{table}");
    }
}

// G314
#[test]
fn a_consumer_does_not_go_on_where_there_was_no_feed_for_a_while() {
    let fixture = fixture();
    let mut reader = feed(&fixture);
    insert(&fixture, 1);
    assert_eq!(next_told(&mut reader), ["+ t 1 (1, 'x')"]);
    block_on(fixture.db.drop_feed("one")).unwrap();
    insert(&fixture, 2);
    let after = FeedOptions {
        after: Some(Position(1)),
        ..FeedOptions::named("one")
    };
    let error = block_on(fixture.db.feed(after)).err().unwrap();
    assert_eq!(error.code(), "RESQLITE_FEED_LOST");
    let mut anew = feed(&fixture);
    insert(&fixture, 3);
    assert_eq!(block_on(reader.next()).unwrap_err().code(), "RESQLITE_FEED_LOST");
    assert_eq!(next_told(&mut anew), ["+ t 3 (3, 'x')"]);
}

// G313
#[test]
fn next_waits_for_a_commit() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    let waiting = ask(feed.next());
    insert(&fixture, 1);
    assert_eq!(told(&waiting.wait().unwrap().entry), ["+ t 1 (1, 'x')"]);
}

// G313
#[test]
fn what_is_rolled_back_or_changes_nothing_is_not_told() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1, 1)", ())).unwrap();
    block_on(transaction.rollback()).unwrap();
    fixture.run("DELETE FROM t");
    fixture.exec("CREATE TEMP TABLE s(a); INSERT INTO s VALUES (1)");
    insert(&fixture, 2);
    assert_eq!(next_told(&mut feed), ["+ t 2 (2, 'x')"]);
}

// G314
#[test]
fn the_log_is_cut_behind_the_slowest_consumer() {
    let fixture = fixture();
    let (mut slow, mut fast) = (feed_of(&fixture, "slow"), feed_of(&fixture, "fast"));
    (1..=4).for_each(|id| insert(&fixture, id));
    let fast_has: Vec<_> = (0..4).map(|_| next(&mut fast)).collect();
    acknowledge(&mut fast, &fast_has[3]);
    assert_eq!(kept(&fixture), [1, 2, 3, 4]);
    next(&mut slow);
    let second = next(&mut slow);
    acknowledge(&mut slow, &second);
    assert_eq!(kept(&fixture), [3, 4]);
    // An earlier position changes nothing.
    acknowledge(&mut fast, &fast_has[0]);
    assert_eq!(next(&mut slow).entry.position(), Position(3));
}

// G314
#[test]
fn a_consumer_that_does_not_come_back_keeps_no_more_than_it_may() {
    let bounds = [
        Keep {
            commits: Some(2),
            bytes: None,
            age: None,
        },
        Keep {
            commits: None,
            bytes: Some(300),
            age: None,
        },
    ];
    for keep in bounds {
        let fixture = fixture();
        block_on(fixture.db.feed(keeping("gone", keep.clone()))).unwrap();
        let mut reads = feed(&fixture);
        (1..=6).for_each(|id| insert(&fixture, id));
        let read: Vec<_> = (0..6).map(|_| next(&mut reads)).collect();
        acknowledge(&mut reads, &read[5]);
        assert!(kept(&fixture).len() <= 2, "{keep:?}: {:?}", kept(&fixture));
        let error = block_on(fixture.db.feed(FeedOptions::named("gone")))
            .err()
            .unwrap();
        assert_eq!(error.code(), "RESQLITE_FEED_LOST", "{keep:?}: {error}");
        // Where what is kept begins, it may go on.
        let newest = FeedOptions {
            after: Some(Position(6)),
            ..FeedOptions::named("gone")
        };
        let mut goes_on = block_on(fixture.db.feed(newest)).unwrap();
        insert(&fixture, 7);
        assert_eq!(next(&mut goes_on).entry.position(), Position(7));
    }
}

// G314
#[test]
fn commits_are_kept_for_a_time() {
    let fixture = fixture();
    let keep = Keep {
        commits: None,
        bytes: None,
        age: Some(Duration::from_secs(100)),
    };
    block_on(fixture.db.feed(keeping("gone", keep))).unwrap();
    let mut reads = feed(&fixture);
    (1..=3).for_each(|id| insert(&fixture, id));
    let read: Vec<_> = (0..3).map(|_| next(&mut reads)).collect();
    let older = "UPDATE _resqlite_changes SET at = at - 100001 WHERE position < 3";
    fixture.stranger().execute_script(older).unwrap();
    acknowledge(&mut reads, &read[2]);
    assert_eq!(kept(&fixture)[0], 3);
}

// G314
#[test]
fn the_log_is_bounded_though_nobody_reads_it() {
    let fixture = fixture();
    let keep = Keep {
        commits: Some(10),
        ..Keep::default()
    };
    let mut feed = block_on(fixture.db.feed(keeping("one", keep))).unwrap();
    (1..=600).for_each(|id| insert(&fixture, id));
    assert!(kept(&fixture).len() < 300, "{}", kept(&fixture).len());
    let error = block_on(feed.next()).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_FEED_LOST");
}

// G313
#[test]
fn a_long_log_is_read_completely() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    (1..=150).for_each(|id| insert(&fixture, id));
    fixture.run("INSERT INTO t VALUES (151, zeroblob(3000000))");
    fixture.run("INSERT INTO t VALUES (152, zeroblob(3000000))");
    insert(&fixture, 153);
    let positions: Vec<_> = (0..153).map(|_| next(&mut feed).entry.position()).collect();
    assert!(positions.into_iter().eq((1..=153).map(Position)));
}

// G316
#[test]
fn without_a_feed_nothing_is_kept() {
    let fixture = fixture();
    insert(&fixture, 1);
    assert_eq!(own_tables(&fixture), 0);
    let mut one = feed(&fixture);
    let other = feed_of(&fixture, "other");
    insert(&fixture, 2);
    block_on(fixture.db.drop_feed("other")).unwrap();
    drop(other);
    assert_eq!(kept(&fixture), [1]);
    block_on(fixture.db.drop_feed("one")).unwrap();
    block_on(fixture.db.drop_feed("never there")).unwrap();
    assert_eq!(own_tables(&fixture), 1, "the position stays");
    insert(&fixture, 3);
    for error in [
        block_on(one.next()).unwrap_err(),
        block_on(one.acknowledge(Position(1))).unwrap_err(),
    ] {
        assert_eq!(error.code(), "RESQLITE_FEED_LOST");
        assert_eq!(error.to_string(), "the change feed \"one\" was removed");
    }
    let again = feed_of(&fixture, "other");
    assert_eq!(again.position(), Position(2), "one for what nobody has counted");
}

// G315
#[test]
fn what_a_stranger_writes_shows_as_a_gap() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    insert(&fixture, 1);
    insert(&fixture, 2);
    let stranger = fixture.stranger();
    stranger.execute_script("INSERT INTO t VALUES (3, 3)").unwrap();
    insert(&fixture, 4);
    insert(&fixture, 5);
    let gaps: Vec<_> = (0..4).map(|_| next(&mut feed).gap).collect();
    assert_eq!(gaps, [None, None, Some(Gap::External), None]);
}

// G315
#[test]
fn so_does_what_it_writes_before_the_first_commit() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    let stranger = fixture.stranger();
    stranger.execute_script("INSERT INTO t VALUES (1, 1)").unwrap();
    insert(&fixture, 2);
    assert_eq!(next(&mut feed).gap, Some(Gap::External));
}

// G315
#[test]
fn so_does_what_it_writes_after_a_known_consumer_has_come_back() {
    let fixture = fixture();
    drop(feed(&fixture));
    let path = fixture.path();
    let db = reopened(fixture.db, &path);
    let mut feed = feed_in(&db, "one");
    let stranger = crate::support::connect(path.to_str().unwrap()).unwrap();
    stranger.execute_script("INSERT INTO t VALUES (1, 1)").unwrap();
    block_on(db.execute("INSERT INTO t VALUES (2, 2)", ())).unwrap();
    assert_eq!(next(&mut feed).gap, Some(Gap::External));
}

// G315
#[test]
fn a_commit_of_what_was_undone_is_counted_for_other_processes() {
    const UNDONE: [&str; 3] = [
        "INSERT INTO t VALUES (3, 3)",
        "CREATE TABLE u(a)",
        "PRAGMA user_version = 7",
    ];
    const FAIL: [&str; 4] = [
        "INSERT INTO t VALUES (4, 4), (1, 1)",
        "CREATE UNIQUE INDEX i ON t(a)",
        "CREATE TABLE u AS SELECT abs(-9223372036854775807 - id) FROM t",
        "ALTER TABLE t ADD COLUMN b CHECK (b IS NOT NULL)",
    ];
    let fixture = fixture();
    let _feed = feed(&fixture);
    insert(&fixture, 1);
    insert(&fixture, 2);
    for undone in UNDONE {
        let script = format!("SAVEPOINT one; {undone}; ROLLBACK TO one; RELEASE one");
        let undo = || block_on(fixture.db.transaction(async |tx| tx.exec(&script).await)).unwrap();
        assert_eq!(counted(&fixture, undo), 1, "{undone}");
    }
    for fails in FAIL {
        let fail = || {
            let transaction = block_on(fixture.db.begin(None)).unwrap();
            block_on(transaction.execute(fails, ())).unwrap_err();
            block_on(transaction.execute("DELETE FROM t WHERE id = 100", ())).unwrap();
            block_on(transaction.commit()).unwrap();
        };
        assert_eq!(counted(&fixture, fail), 1, "{fails}");
    }
    assert_eq!(counted(&fixture, || drop(fixture.run("REINDEX"))), 1);
}

// G315
#[test]
fn what_writes_no_page_is_not_counted() {
    let fixture = fixture();
    let _feed = feed(&fixture);
    insert(&fixture, 1);
    for sql in [
        "DELETE FROM t WHERE id = 100",
        "CREATE TABLE IF NOT EXISTS t(a)",
        "PRAGMA integrity_check",
    ] {
        assert_eq!(counted(&fixture, || drop(fixture.run(sql))), 0, "{sql}");
    }
}

// G315
#[test]
fn a_commit_that_fails_is_not_counted() {
    let fixture = Fixture::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY);
         CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    let _feed = feed(&fixture);
    let violate = || {
        let insert = block_on(
            fixture
                .db
                .transaction(async |tx| tx.execute("INSERT INTO c VALUES (7)", ()).await),
        );
        insert.unwrap_err();
        fixture.run("INSERT INTO p VALUES (1)");
    };
    assert_eq!(counted(&fixture, violate), 0);
}

// G315
#[test]
fn so_does_what_it_writes_while_a_write_waits_for_its_lock() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    insert(&fixture, 1);
    assert_eq!(next(&mut feed).gap, None);
    let stranger = fixture.stranger();
    stranger
        .execute_script("BEGIN IMMEDIATE; INSERT INTO t VALUES (2, 2)")
        .unwrap();
    let waiting = ask(fixture.db.execute("UPDATE t SET a = 3 WHERE id = 2", ()));
    stranger.execute_script("COMMIT").unwrap();
    waiting.wait().unwrap();
    assert_eq!(next(&mut feed).gap, Some(Gap::External));
}

// G315
#[test]
fn a_gap_is_told_by_a_write_that_changes_nothing() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    fixture
        .stranger()
        .execute_script("INSERT INTO t VALUES (1, 1)")
        .unwrap();
    fixture.run("DELETE FROM t WHERE id = 100");
    assert_eq!(next(&mut feed).gap, Some(Gap::External));
}

// G315
#[test]
fn a_gap_is_told_though_nobody_writes_before_the_database_is_closed() {
    let fixture = fixture();
    drop(feed(&fixture));
    fixture
        .stranger()
        .execute_script("INSERT INTO t VALUES (1, 1)")
        .unwrap();
    let path = fixture.path();
    let db = reopened(fixture.db, &path);
    let mut feed = feed_in(&db, "one");
    assert_eq!(next(&mut feed).gap, Some(Gap::External));
}

// G315
#[test]
fn a_consumer_that_waits_is_told_of_what_a_stranger_writes() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    insert(&fixture, 1);
    assert_eq!(next(&mut feed).gap, None);
    insert(&fixture, 2);
    assert_eq!(next(&mut feed).gap, None);
    let waiting = ask(feed.next());
    fixture
        .stranger()
        .execute_script("INSERT INTO t VALUES (3, 3)")
        .unwrap();
    let commit = waiting.wait().unwrap();
    assert_eq!((commit.gap, told(&commit.entry)), (Some(Gap::External), vec![]));
}

// G315
#[test]
fn what_runs_outside_of_transactions_shows_as_a_gap_if_it_has_written() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    fixture.exec("BEGIN; INSERT INTO t VALUES (1, 1); COMMIT");
    fixture.exec("BEGIN; INSERT INTO t VALUES (2, 2); ROLLBACK");
    block_on(
        fixture
            .db
            .exec("BEGIN; INSERT INTO t VALUES (3, 3); COMMIT; nonsense"),
    )
    .unwrap_err();
    fixture.run("VACUUM");
    fixture.run(&format!("ATTACH '{}' AS other", fixture.file("other.db")));
    fixture.exec("CREATE TABLE other.o(a); INSERT INTO other.o VALUES (1); INSERT INTO t VALUES (4, 4)");
    fixture.run("DETACH other");
    fixture.run("PRAGMA user_version = 5");
    let all: Vec<_> = (0..5)
        .map(|_| next(&mut feed))
        .map(|commit| (commit.gap, told(&commit.entry)))
        .collect();
    let gap = || (Some(Gap::Script), vec![]);
    let last = [
        (None, vec!["+ t 4 (4, 4)".to_owned()]),
        (None, vec!["PRAGMA main.user_version = 5".to_owned()]),
    ];
    assert_eq!(all[..3], [gap(), gap(), gap()]);
    assert_eq!(all[3..], last);
}

// G315
#[test]
fn a_process_that_ended_in_a_script_leaves_a_gap() {
    let fixture = fixture();
    drop(feed(&fixture));
    let path = fixture.path();
    block_on(fixture.db.close()).unwrap();
    let stranger = crate::support::connect(path.to_str().unwrap()).unwrap();
    stranger
        .execute_script("UPDATE _resqlite_feed_state SET unlisted = 1")
        .unwrap();
    drop(stranger);
    let db = open(path.to_str().unwrap()).unwrap();
    let mut feed = feed_in(&db, "one");
    let commit = next(&mut feed);
    assert_eq!(commit.gap, Some(Gap::Script));
    acknowledge(&mut feed, &commit);
    drop(feed);

    let db = reopened(db, &path);
    let mut feed = feed_in(&db, "one");
    block_on(db.execute("INSERT INTO t VALUES (1, 1)", ())).unwrap();
    assert_eq!(next(&mut feed).gap, None, "it was told already");
}

#[test]
fn no_position_is_after_the_last_that_there_can_be() {
    let fixture = fixture();
    let after_all = FeedOptions {
        after: Some(Position(u64::MAX)),
        ..FeedOptions::named("one")
    };
    let refused = block_on(fixture.db.feed(after_all)).err().unwrap();
    assert_eq!(refused.code(), "RESQLITE_FEED_LOST");
}

// G315
#[test]
fn the_first_thing_that_a_process_runs_may_be_a_script() {
    let fixture = fixture();
    drop(feed(&fixture));
    let path = fixture.path();
    let db = reopened(fixture.db, &path);
    block_on(db.exec("BEGIN; INSERT INTO t VALUES (1, 1); COMMIT")).unwrap();
    let mut feed = feed_in(&db, "one");
    assert_eq!(next(&mut feed).gap, Some(Gap::Script));
}

// G315
#[test]
fn a_commit_that_cannot_be_listed_is_done_and_shows_as_a_gap() {
    let fixture = fixture();
    fixture.exec("CREATE TABLE hidden(rowid, _rowid_, oid)");
    let mut feed = feed(&fixture);
    fixture.exec("INSERT INTO t VALUES (1, 1); INSERT INTO hidden VALUES (1, 2, 3)");
    let sets = [vec![], vec![]];
    block_on(
        fixture
            .db
            .execute_batch("CREATE TABLE IF NOT EXISTS made(a)", &sets),
    )
    .unwrap();
    insert(&fixture, 2);
    let all: Vec<_> = (0..3)
        .map(|_| next(&mut feed))
        .map(|commit| (commit.gap, told(&commit.entry)))
        .collect();
    let gap = || (Some(Gap::Unlisted), vec![]);
    assert_eq!(all, [gap(), gap(), (None, vec!["+ t 2 (2, 'x')".to_owned()])]);
    assert_eq!(fixture.integers("SELECT count(*) FROM hidden"), [1]);
}

// G316
#[test]
fn tables_of_its_own_are_not_written_by_others() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    insert(&fixture, 1);
    for sql in [
        "UPDATE _resqlite_position SET position = 7",
        "DELETE FROM _resqlite_changes",
        "UPDATE _resqlite_feeds SET position = 7",
        "DROP TABLE _resqlite_changes",
        "DROP TABLE _resqlite_feed_state",
    ] {
        assert_eq!(fixture.fails(sql).code(), "RESQLITE_ENTRY_NOT_CARRIED", "{sql}");
        let script = format!("BEGIN; {sql}; COMMIT");
        let error = block_on(fixture.db.exec(&script)).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_ENTRY_NOT_CARRIED", "{script}");
    }
    insert(&fixture, 2);
    assert_eq!(
        [next(&mut feed), next(&mut feed)].map(|commit| commit.entry.position()),
        [1, 2].map(Position)
    );
}

// G316
#[test]
fn beside_an_entry_gate_a_feed_has_what_passed() {
    let fixture = fixture();
    let mut feed = feed(&fixture);
    insert(&fixture, 1);
    let gate = fixture.gate(|entry, verdict| {
        let _ = if entry.operations().count() > 1 {
            verdict.refuse("no")
        } else {
            verdict.pass()
        };
    });
    assert_eq!(
        fixture.fails("INSERT INTO t VALUES (2, 2), (3, 3)").code(),
        "RESQLITE_ENTRY_REFUSED"
    );
    insert(&fixture, 4);
    assert_eq!(fixture.fails("VACUUM").code(), "RESQLITE_ENTRY_NOT_CARRIED");
    let passed = gate.one();
    let commit = (0..2).map(|_| next(&mut feed)).last().unwrap();
    assert_eq!(commit.entry, passed);
    acknowledge(&mut feed, &commit);
    block_on(fixture.db.set_entry_gate(None)).unwrap();
    fixture.run("VACUUM");
    assert_eq!(next(&mut feed).gap, Some(Gap::Script));
}

// G316
#[test]
fn applied_entries_are_in_the_feed_of_the_copy() {
    let (original, copy) = (fixture(), fixture());
    let entries = original.entries();
    let mut feed = feed(&copy);
    (1..=2).for_each(|id| insert(&original, id));
    copy.follow(&entries);
    let first = next(&mut feed);
    assert_eq!(told(&first.entry), ["+ t 1 (1, 'x')"]);
    acknowledge(&mut feed, &first);
    insert(&original, 3);
    copy.follow(&entries);
    let rest: Vec<_> = (0..2)
        .map(|_| next(&mut feed))
        .map(|commit| (commit.gap, commit.entry.position()))
        .collect();
    assert_eq!(rest, [(None, Position(2)), (None, Position(3))]);
}

// G316
#[test]
fn a_backup_has_the_feeds_as_they_were() {
    let fixture = fixture();
    let mut original = feed(&fixture);
    insert(&fixture, 1);
    let path = fixture.file("copy.db");
    block_on(fixture.db.backup(&path, BackupOptions::default())).unwrap();
    let first = next(&mut original);
    acknowledge(&mut original, &first);
    insert(&fixture, 2);
    let copy = open(&path).unwrap();
    block_on(copy.execute("INSERT INTO t VALUES (7, 7)", ())).unwrap();
    let mut feed = feed_in(&copy, "one");
    assert_eq!(next_told(&mut feed), ["+ t 1 (1, 'x')"]);
    assert_eq!(next_told(&mut feed), ["+ t 7 (7, 7)"]);
    assert_eq!(next_told(&mut original), ["+ t 2 (2, 'x')"]);
}

// G327
#[test]
fn a_copy_that_takes_the_place_of_a_database_has_its_feeds_and_tells_them_what_they_have_lost() {
    let fixture = fixture();
    let mut original = feed(&fixture);
    insert(&fixture, 1);
    let path = fixture.file("copy.db");
    block_on(fixture.db.backup(&path, BackupOptions::default())).unwrap();
    let position = next(&mut original).entry.position();
    let copy = open(&path).unwrap();
    let keep = Keep {
        commits: Some(77),
        bytes: None,
        age: None,
    };
    let feeds = vec![
        (FeedOptions::named("complete"), position),
        (keeping("behind", keep.clone()), position.before()),
    ];
    block_on(copy.replace_feeds(feeds)).unwrap();
    let copy = reopened(copy, path.as_ref());
    let at = |copy: &Database| block_on(copy.entry_position()).unwrap().position;
    assert_eq!(at(&copy), position, "no commit was added");
    block_on(copy.execute("INSERT INTO t VALUES (7, 7)", ())).unwrap();
    assert_eq!(next_told(&mut feed_in(&copy, "complete")), ["+ t 7 (7, 7)"]);
    let behind = block_on(copy.feed(FeedOptions::named("behind")));
    assert_eq!(behind.err().unwrap().code(), "RESQLITE_FEED_LOST");
    let kept = "SELECT name, keep_commits FROM _resqlite_feeds ORDER BY name";
    let kept: Vec<_> = block_on(copy.select(kept, ()))
        .unwrap()
        .iter()
        .map(|row| row.values().to_vec())
        .collect();
    let expected = [
        vec!["behind".into(), Value::from(77)],
        vec!["complete".into(), Value::Null],
    ];
    assert_eq!(kept, expected, "those of the other database are gone");
    let [behind, _complete] = block_on(copy.feeds()).unwrap().try_into().unwrap();
    assert_eq!(behind, (keeping("behind", keep), position.before()));
}

#[test]
fn a_database_that_is_open_for_reading_only_has_no_feeds() {
    let fixture = fixture();
    let options = Options {
        read_only: true,
        ..Options::default()
    };
    let db = open_with(fixture.path().to_str().unwrap(), options).unwrap();
    let error = block_on(db.feed(FeedOptions::named("one"))).err().unwrap();
    assert_eq!(error.code(), "RESQLITE_READ_ONLY");
}

// G313
#[test]
fn a_reader_can_read_everything_first_and_then_what_came_after() {
    let fixture = fixture();
    insert(&fixture, 1);
    let mut feed = feed(&fixture);
    insert(&fixture, 2);
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    let read = |sql: &str| integers(&block_on(snapshot.select(sql, ())).unwrap());
    let (position, rows) = (
        read("SELECT position FROM _resqlite_position")[0],
        read("SELECT id FROM t"),
    );
    insert(&fixture, 3);
    assert_eq!(rows, [1, 2]);
    let mut later = (0..2)
        .map(|_| next(&mut feed))
        .filter(|commit| commit.entry.position() > Position(position as u64));
    assert_eq!(told(&later.next().unwrap().entry), ["+ t 3 (3, 'x')"]);
}

// G313
#[test]
fn a_write_that_fails_for_a_foreign_key_leaves_the_feed_as_it_was() {
    let fixture = Fixture::new(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    let mut feed = feed(&fixture);
    assert_eq!(
        fixture.fails("INSERT INTO t VALUES (1)").code(),
        "SQLITE_CONSTRAINT_FOREIGNKEY"
    );
    fixture.exec("INSERT INTO p VALUES (1); INSERT INTO t VALUES (1)");
    assert_eq!(next_told(&mut feed), ["+ p 1 (1)", "+ t 1 (1)"]);
}

// G258
#[test]
fn in_a_file_that_has_a_feed_commits_say_what_they_change_from_the_first_on() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    drop(feed(&fixture));
    let path = fixture.path();
    let db = reopened(fixture.db, &path);
    let number = block_on(db.execute("INSERT INTO t VALUES (1)", ()))
        .unwrap()
        .commit;
    let summary = summary_of(&db, number);
    assert!(summary.table(&table("t")).is_some() && !summary.everything_changed());
    block_on(db.close()).unwrap();
}
