//! Applying the entries of another database.

use resqlite::{
    CommitId, Error,
    log::{Entry, Position},
};

use crate::support::{Feed, Fixture, block_on, later, next_integers, wait_until_quiet};

const SCHEMA: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b COLLATE NOCASE);
    INSERT INTO t VALUES (1, 1, 'one'), (2, 2, 'two')";

/// A database with its entries, and a copy of it.
fn pair(schema: &str) -> (Fixture, Feed, Fixture) {
    let (original, copy) = (Fixture::new(schema), Fixture::new(schema));
    let feed = original.entries();
    (original, feed, copy)
}

fn refuses(copy: &Fixture, entry: Entry) -> Error {
    let everything = || {
        copy.select("SELECT * FROM t")
            .iter()
            .map(|row| row.values().to_vec())
            .collect::<Vec<_>>()
    };
    let before = everything();
    let error = block_on(copy.db.apply(entry)).unwrap_err();
    assert_eq!(everything(), before);
    error
}

// G304
#[test]
fn an_entry_out_of_turn_is_refused() {
    let (original, feed, copy) = pair(SCHEMA);
    original.run("DELETE FROM t WHERE id = 1");
    original.run("DELETE FROM t WHERE id = 2");
    let [first, second] = feed.all().try_into().unwrap();
    assert_eq!(refuses(&copy, second.clone()).code(), "RESQLITE_ENTRY_POSITION");
    block_on(copy.db.apply(first.clone())).unwrap();
    let error = refuses(&copy, first);
    assert_eq!(error.code(), "RESQLITE_ENTRY_POSITION");
    assert_eq!(
        error.to_string(),
        "the entry has the position 1, and the next one here is 2"
    );
    block_on(copy.db.apply(second)).unwrap();
}

// G304
#[test]
fn an_entry_of_another_history_is_refused() {
    let (original, feed, copy) = pair(SCHEMA);
    let (other, other_feed, _) = pair(SCHEMA);
    for (database, sql) in [
        (&original, "DELETE FROM t WHERE id = 1"),
        (&other, "DELETE FROM t WHERE id = 2"),
    ] {
        database.run(sql);
        database.run("INSERT INTO t VALUES (3, 3, 3)");
    }
    block_on(copy.db.apply(feed.all().swap_remove(0))).unwrap();
    assert_eq!(
        refuses(&copy, other_feed.all().swap_remove(1)).code(),
        "RESQLITE_ENTRY_CHAIN"
    );
}

// G304
#[test]
fn an_entry_that_does_not_fit_the_rows_is_refused() {
    for (difference, write) in [
        ("UPDATE t SET b = 'ONE'", "UPDATE t SET a = 9 WHERE id = 1"),
        ("UPDATE t SET a = 1.0 WHERE id = 1", "DELETE FROM t WHERE id = 1"),
        ("DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 1"),
        ("DELETE FROM t WHERE id = 1", "UPDATE t SET id = 9 WHERE id = 1"),
        ("INSERT INTO t VALUES (3, 3, 3)", "INSERT INTO t VALUES (3, 4, 4)"),
        ("INSERT INTO t VALUES (7, 3, 3)", "INSERT INTO t VALUES (3, 3, 3)"),
        (
            "ALTER TABLE t ADD COLUMN c DEFAULT 1",
            "DELETE FROM t WHERE id = 1",
        ),
    ] {
        let (original, feed, copy) = pair(SCHEMA);
        copy.exec(difference);
        original.exec(&format!("INSERT INTO t VALUES (8, 8, 8); {write}"));
        let error = refuses(&copy, feed.one());
        assert_eq!(error.code(), "RESQLITE_ENTRY_ROW", "{difference}: {error}");
    }
}

// G304
#[test]
fn triggers_and_foreign_keys_do_not_run_again() {
    let (original, feed, copy) = pair(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1), (2);
         CREATE TABLE c(p REFERENCES p ON DELETE CASCADE); INSERT INTO c VALUES (1), (2);
         CREATE TABLE log(a); CREATE TRIGGER g AFTER DELETE ON c BEGIN INSERT INTO log VALUES (old.p); END",
    );
    original.run("DELETE FROM p WHERE id = 1");
    copy.follow(&feed);
    assert_eq!(copy.integers("SELECT a FROM log"), [1]);
    assert_eq!(copy.integers("SELECT p FROM c"), [2]);
    // Afterwards they do.
    copy.run("DELETE FROM p WHERE id = 2");
    assert_eq!(copy.integers("SELECT a FROM log"), [1, 2]);
}

// G304
#[test]
fn checks_and_conflict_clauses_of_a_table_do_not_change_what_is_applied() {
    let (original, feed, copy) =
        pair("CREATE TABLE t(a UNIQUE ON CONFLICT REPLACE, b NOT NULL ON CONFLICT REPLACE DEFAULT 7)");
    original.exec("INSERT INTO t VALUES (1, NULL); INSERT INTO t VALUES (1, 2); UPDATE t SET b = NULL");
    copy.follow(&feed);
    assert_eq!(copy.integers("SELECT b FROM t"), [7]);
    assert_eq!(
        copy.integers("SELECT rowid FROM t"),
        original.integers("SELECT rowid FROM t")
    );
    copy.run("INSERT INTO t VALUES (1, 3)");
    original.run("INSERT INTO t VALUES (5, 5)");
    // Row 2 is gone here, so that the new one would get another row id.
    block_on(copy.db.apply(feed.one())).unwrap_err();
}

// G305
#[test]
fn live_queries_of_a_copy_run_only_where_a_row_concerns_them() {
    let (original, feed, copy) = pair(SCHEMA);
    // With the first entry the position gets its table, and then everything runs again.
    original.run("INSERT INTO t VALUES (3, 3, 3)");
    copy.follow(&feed);
    let mut one = copy.db.stream("SELECT a FROM t WHERE id = 1", ());
    let mut two = copy.db.stream("SELECT a FROM t WHERE id = 2", ());
    assert_eq!(
        (next_integers(&mut one), next_integers(&mut two)),
        (vec![1], vec![2])
    );
    wait_until_quiet(&copy.db);
    for a in 10..20 {
        original.run(&format!("UPDATE t SET a = {a} WHERE id = 2"));
        copy.follow(&feed);
    }
    original.run("UPDATE t SET a = 20 WHERE id = 1");
    copy.follow(&feed);
    assert_eq!(next_integers(&mut one), [20]);
    wait_until_quiet(&copy.db);
    let (one, two) = (one.stats(), two.stats());
    assert_eq!((one.reruns, one.skipped_by_key), (1, 10));
    assert!(two.reruns > 0);
}

// G300
#[test]
fn a_copy_can_take_over_the_writing() {
    let schema = "CREATE VIRTUAL TABLE f USING fts5(a); CREATE VIRTUAL TABLE r USING rtree(id, a, b)";
    let (original, feed, copy) = pair(schema);
    for turn in 0..3 {
        original.exec(&format!(
            "INSERT INTO f VALUES ('turn {turn}'); INSERT INTO r VALUES ({turn}, 1, 2)"
        ));
        copy.follow(&feed);
        copy.run("INSERT INTO f(f) VALUES ('integrity-check')");
    }
    let taken_over = copy.entries();
    copy.exec("INSERT INTO f VALUES ('taken over'); INSERT INTO r VALUES (9, 1, 2); INSERT INTO f(f) VALUES ('optimize')");
    copy.run("INSERT INTO f(f) VALUES ('integrity-check')");
    original.follow(&taken_over);
    original.run("INSERT INTO f(f) VALUES ('integrity-check')");
    assert_eq!(
        original
            .integers("SELECT rowid FROM f('turn OR taken') ORDER BY 1")
            .len(),
        4
    );
    assert_eq!(original.integers("SELECT rtreecheck('r') = 'ok'"), [1]);
}

// G304
#[test]
fn temporary_triggers_of_a_copy_would_run_and_are_refused() {
    let (original, feed, copy) = pair(SCHEMA);
    copy.exec("CREATE TEMP TRIGGER g AFTER DELETE ON main.t BEGIN DELETE FROM t; END");
    original.run("DELETE FROM t WHERE id = 1");
    assert_eq!(refuses(&copy, feed.one()).code(), "RESQLITE_ENTRY_NOT_CARRIED");
}

/// SQLite looks for the virtual table by its name, and finds the temporary one.
// G300
#[test]
fn a_temporary_table_that_is_called_like_a_virtual_one_changes_nothing() {
    let (original, feed, copy) = pair("CREATE TEMP TABLE f(a)");
    copy.exec("DROP TABLE temp.f");
    original.exec("CREATE VIRTUAL TABLE main.f USING fts5(a); INSERT INTO main.f VALUES ('word')");
    copy.follow(&feed);
    assert_eq!(copy.integers("SELECT rowid FROM f('word')"), [1]);
}

// G304
#[test]
fn the_gate_is_told_of_an_applied_entry_and_not_asked() {
    let (original, feed, copy) = pair(SCHEMA);
    let applied = copy.gate(|entry, _| panic!("{entry:?}"));
    original.run("DELETE FROM t WHERE id = 1");
    let entry = feed.one();
    block_on(copy.db.apply(entry.clone())).unwrap();
    assert_eq!(applied.one(), entry);
}

// G300
#[test]
fn statistics_of_a_copy_are_those_of_the_original() {
    let (original, feed, copy) = pair(SCHEMA);
    original.run("ANALYZE");
    original.run("PRAGMA optimize = 0x10002");
    copy.follow(&feed);
    let statistics = |of: &Fixture| {
        let rows = of.select("SELECT rowid, * FROM sqlite_stat1");
        rows.iter().map(|row| row.values().to_vec()).collect::<Vec<_>>()
    };
    assert!(!statistics(&copy).is_empty());
    assert_eq!(statistics(&copy), statistics(&original));
}

// G300
#[test]
fn statistics_that_are_made_and_dropped_again_in_one_transaction_are_applied() {
    let (original, feed, copy) = pair(SCHEMA);
    for script in [
        "ANALYZE; DROP TABLE sqlite_stat1",
        "ANALYZE; CREATE VIEW s AS SELECT * FROM sqlite_stat1; ALTER TABLE t RENAME TO u",
        "DROP TABLE sqlite_stat4",
        "UPDATE sqlite_stat1 SET stat = '7 1'",
    ] {
        original.exec(script);
        copy.follow(&feed);
        let schema = "SELECT name FROM sqlite_schema ORDER BY 1";
        let names = |of: &Fixture| format!("{:?}", of.select(schema));
        assert_eq!(names(&copy), names(&original), "{script}");
    }
}

// G300
#[test]
fn rows_from_before_a_real_column_was_added_had_a_real_in_it_on_every_copy() {
    let (original, feed, copy) =
        pair("CREATE TABLE t(id INT PRIMARY KEY, a) WITHOUT ROWID; INSERT INTO t VALUES (1, 1), (2, 2)");
    original.exec("ALTER TABLE t ADD COLUMN price REAL DEFAULT 5");
    copy.follow(&feed);
    // Writes the rows anew, which those of the copy are not.
    original.exec("REINDEX");
    original.run("UPDATE t SET a = a + 1");
    copy.follow(&feed);
    copy.exec("REINDEX");
    original.run("DELETE FROM t WHERE id = 1");
    copy.follow(&feed);
    assert_eq!(copy.integers("SELECT a FROM t"), [3]);
}

/// Three entries that insert rows 11, 12 and 13.
fn three(original: &Fixture, feed: &Feed) -> [Entry; 3] {
    for id in 11..=13 {
        original.run(&format!("INSERT INTO t VALUES ({id}, {id}, {id})"));
    }
    feed.all().try_into().unwrap()
}

// G312
#[test]
fn entries_that_wait_together_are_applied_in_one_commit() {
    let (original, feed, copy) = pair(SCHEMA);
    let before = copy.db.engine().last_commit();
    let entries = three(&original, &feed);
    let applied = copy.apply_together(entries.into());
    assert_eq!(copy.db.engine().last_commit(), later(before, 1));
    assert_eq!(applied, [1; 3].map(|more| Ok(later(before, more))));
    let ids = "SELECT id FROM t WHERE id > 10";
    assert_eq!(copy.integers(ids), original.integers(ids));
    // The position is that of the last.
    original.run("DELETE FROM t");
    copy.follow(&feed);
}

// G312
#[test]
fn entries_that_wait_together_are_applied_in_turn_where_they_change_the_schema_or_have_full_text() {
    let (original, feed, copy) = pair(SCHEMA);
    original.exec("CREATE VIRTUAL TABLE f USING fts5(x)");
    original.run("INSERT INTO f VALUES ('one two')");
    original.exec("ALTER TABLE t ADD COLUMN c");
    original.run("UPDATE t SET c = 7");
    original.run("INSERT INTO f VALUES ('two three')");
    let applied = copy.apply_together(feed.all());
    assert!(applied.iter().all(Result::is_ok), "{applied:?}");
    assert_eq!(copy.integers("SELECT c FROM t"), [7, 7]);
    assert_eq!(copy.integers("SELECT rowid FROM f('two')"), [1, 2]);
}

// G312
#[test]
fn an_entry_that_does_not_fit_keeps_those_before_it_from_nothing() {
    let (original, feed, copy) = pair(SCHEMA);
    copy.run("INSERT INTO t VALUES (12, 0, 0)");
    let applied = copy.apply_together(three(&original, &feed).into());
    let code =
        |applied: &Result<CommitId, Error>| applied.as_ref().err().map(|error| error.code().to_owned());
    let codes: Vec<_> = applied.iter().map(code).collect();
    let expected = [None, Some("RESQLITE_ENTRY_ROW"), Some("RESQLITE_ENTRY_POSITION")];
    assert_eq!(codes, expected.map(|code| code.map(str::to_owned)));
    assert_eq!(copy.integers("SELECT id FROM t WHERE id > 10"), [11, 12]);
}

// G312
#[test]
fn live_queries_see_all_rows_of_entries_that_are_applied_together() {
    let (original, feed, copy) = pair(SCHEMA);
    let mut live: Vec<_> = (11..=13)
        .map(|id| copy.db.stream("SELECT a FROM t WHERE id = ?", [id.into()]))
        .collect();
    for live in &mut live {
        assert!(next_integers(live).is_empty());
    }
    copy.apply_together(three(&original, &feed).into());
    let shown: Vec<_> = live.iter_mut().flat_map(next_integers).collect();
    assert_eq!(shown, [11, 12, 13]);
    assert_eq!(copy.db.diagnostics().streams.sums.unchanged, 0);
}

// G312
#[test]
fn a_feed_of_a_copy_has_each_of_the_entries_that_are_applied_together() {
    let (original, feed, copy) = pair(SCHEMA);
    let options = resqlite::feeds::FeedOptions::named("one");
    let mut changes = block_on(copy.db.feed(options)).unwrap();
    copy.apply_together(three(&original, &feed).into());
    original.run("DELETE FROM t");
    // Strangers are looked for with the next commit.
    copy.follow(&feed);
    for position in 1..=4 {
        let commit = block_on(changes.next()).unwrap();
        assert_eq!((commit.entry.position(), commit.gap), (Position(position), None));
    }
}
