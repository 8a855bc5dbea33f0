//! Live queries through the Rust API.

use std::{sync::mpsc, thread, time::Duration};

use resqlite::{Database, LiveQuery, Options, Value};

use crate::support::{Fixture, block_on, connect, keyed, next_integers, wait_until_quiet};

async fn items() -> Database {
    let db = Database::open(":memory:", keyed(Options::default()))
        .await
        .unwrap();
    db.exec("CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT)")
        .await
        .unwrap();
    db
}

#[test]
fn a_commit_gives_the_new_result() {
    pollster::block_on(async {
        let db = items().await;
        let mut live = db.stream("SELECT name FROM items ORDER BY id", ());
        assert_eq!(live.next().await.unwrap().unwrap().rows().len(), 0);
        let commit = db
            .execute("INSERT INTO items(name) VALUES ('a')", ())
            .await
            .unwrap()
            .commit;
        let emitted = live.next().await.unwrap().unwrap();
        assert!(emitted.commit >= commit);
        let names: Vec<_> = emitted.rows().iter().map(|row| row.values()[0].clone()).collect();
        assert_eq!(names, [Value::Text("a".into())]);
        assert_eq!(live.stats().emitted, 2);
        db.close().await.unwrap();
    });
}

// G126
#[test]
fn a_query_that_never_worked_ends_with_its_error() {
    pollster::block_on(async {
        let db = items().await;
        let mut live = db.stream("SELECT nothing FROM items", ());
        assert!(live.next().await.unwrap().is_err());
        assert!(live.next().await.is_none());
        assert_eq!(db.diagnostics().streams.open, 0);
        db.close().await.unwrap();
    });
}

// G126
#[test]
fn a_query_heals_when_its_table_returns() {
    pollster::block_on(async {
        let db = items().await;
        let mut live = db.stream("SELECT name FROM items ORDER BY id", ());
        assert!(live.next().await.unwrap().is_ok());
        db.exec("DROP TABLE items").await.unwrap();
        assert!(live.next().await.unwrap().is_err());
        db.exec(
            "CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO items VALUES (1, 'back')",
        )
        .await
        .unwrap();
        assert_eq!(live.next().await.unwrap().unwrap().rows().len(), 1);
        db.close().await.unwrap();
    });
}

// G126
#[test]
fn a_query_that_met_a_foreign_lock_heals_when_it_is_released() {
    let options = Options {
        busy_timeout: Some(Duration::ZERO),
        watch_external: Some(false),
        ..Options::default()
    };
    let fixture = Fixture::with("CREATE TABLE t(a)", options);
    let file = fixture.file("other.db");
    // With a rollback journal a writer keeps readers out.
    let stranger = connect(&file).unwrap();
    stranger
        .execute_script("CREATE TABLE u(a); INSERT INTO u VALUES (1)")
        .unwrap();
    fixture.run(&format!("ATTACH '{file}' AS other"));
    let mut live = fixture.db.stream("SELECT a FROM other.u ORDER BY a", ());
    block_on(live.next()).unwrap().unwrap();

    stranger
        .execute_script("BEGIN EXCLUSIVE; INSERT INTO u VALUES (2)")
        .unwrap();
    fixture.run("PRAGMA user_version = 1");
    let error = block_on(live.next()).unwrap().unwrap_err();
    assert_eq!(error.code(), "SQLITE_BUSY", "{error}");
    stranger.execute_script("COMMIT").unwrap();
    let (tell, hear) = mpsc::channel();
    thread::spawn(move || {
        let healed = block_on(live.next()).unwrap().unwrap();
        tell.send(healed.rows().len()).unwrap();
    });
    let rows = hear.recv_timeout(Duration::from_secs(60));
    assert_eq!(rows, Ok(2), "nothing was committed here meanwhile");
}

// G121
#[test]
fn many_queries_that_commits_outpace_all_end_up_to_date() {
    const ROWS: i64 = 300;
    pollster::block_on(async {
        let db = items().await;
        let sets: Vec<_> = (0..ROWS).map(|id| vec![id.into(), "old".into()]).collect();
        db.execute_batch("INSERT INTO items VALUES (?, ?)", &sets)
            .await
            .unwrap();
        let mut live: Vec<_> = (0..ROWS)
            .map(|id| db.stream("SELECT name FROM items WHERE id = ?", [id.into()]))
            .collect();
        for query in &mut live {
            query.next().await.unwrap().unwrap();
        }
        let mut expected = vec![String::from("old"); ROWS as usize];
        for step in 0..6_000_i64 {
            // Every row in turn, but not in order, and never two commits of one row close together.
            let id = step * 7 % ROWS;
            expected[id as usize] = format!("{step}");
            let name = Value::Text(expected[id as usize].clone());
            db.execute("UPDATE items SET name = ? WHERE id = ?", [name, id.into()])
                .await
                .unwrap();
        }
        wait_until_quiet(&db);
        for (query, expected) in live.iter_mut().zip(expected) {
            let emitted = query.next().await.unwrap().unwrap();
            let shown = &emitted.rows().iter().next().unwrap().values()[0].clone();
            assert_eq!(shown, &Value::Text(expected));
        }
        drop(live);
        db.close().await.unwrap();
    });
}

/// Takes as long as the only row of `steps` says.
const COUNTING: &str = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT (SELECT n FROM steps)) \
                        SELECT count(*) FROM c";

/// A database for [`COUNTING`], in which two live queries run at the same time.
async fn with_steps(steps: i64) -> Database {
    let options = Options {
        readers: Some(2),
        ..Options::default()
    };
    let db = Database::open(":memory:", keyed(options)).await.unwrap();
    db.exec(&format!(
        "CREATE TABLE steps(n); INSERT INTO steps VALUES ({steps})"
    ))
    .await
    .unwrap();
    db
}

// G105
#[test]
fn the_first_result_of_a_query_that_is_in_use_shows_what_was_committed_before() {
    pollster::block_on(async {
        let db = with_steps(1).await;
        let mut first = db.stream(COUNTING, ());
        first.next().await.unwrap().unwrap();
        for n in (1..=10).map(|n| n * 20_000) {
            db.execute("UPDATE steps SET n = ?", [n.into()]).await.unwrap();
            let (mut one, mut other) = (db.stream(COUNTING, ()), db.stream(COUNTING, ()));
            for live in [&mut one, &mut other] {
                let emitted = live.next().await.unwrap().unwrap();
                assert_eq!(emitted.rows().iter().next().unwrap().values(), [n.into()]);
            }
        }
        drop(first);
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn a_slow_query_holds_up_no_quick_one() {
    pollster::block_on(async {
        let db = with_steps(2_000_000).await;
        let mut slow = db.stream(COUNTING, ());
        let mut quick = db.stream("SELECT n FROM steps", ());
        slow.next().await.unwrap().unwrap();
        quick.next().await.unwrap().unwrap();
        // From now on the slow one does not come to an end.
        db.execute("UPDATE steps SET n = 1000000000000", ())
            .await
            .unwrap();
        quick.next().await.unwrap().unwrap();
        db.execute("UPDATE steps SET n = n + 1", ()).await.unwrap();
        quick.next().await.unwrap().unwrap();
        assert_eq!(slow.stats().emitted, 1);
        drop((slow, quick));
        db.close().await.unwrap();
    });
}

/// Takes long, as slow queries do, and shows `n`.
const SLOW: &str = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 300000) \
                    SELECT n, (SELECT count(*) FROM c) FROM shown";

// G121
#[test]
fn a_slow_query_shows_each_commit_while_another_one_does_not_end() {
    pollster::block_on(async {
        let db = with_steps(10).await;
        db.exec("CREATE TABLE shown(n); INSERT INTO shown VALUES (0)")
            .await
            .unwrap();
        let mut endless = db.stream(COUNTING, ());
        let mut slow = db.stream(SLOW, ());
        endless.next().await.unwrap().unwrap();
        slow.next().await.unwrap().unwrap();
        for n in 1..=6 {
            if n == 4 {
                db.execute("UPDATE steps SET n = 1000000000000", ())
                    .await
                    .unwrap();
            }
            db.execute("UPDATE shown SET n = ?", [n.into()]).await.unwrap();
            let shown = slow.next().await.unwrap().unwrap();
            assert_eq!(shown.rows().iter().next().unwrap().values()[0], n.into());
        }
        assert_eq!(endless.stats().emitted, 1);
        drop((endless, slow));
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn a_run_that_does_not_end_gives_way_to_the_commit_after_which_it_would_and_its_rows_are_void() {
    pollster::block_on(async {
        let db = with_steps(1).await;
        let sql = format!(
            "SELECT value + n FROM generate_series(1, 5000), steps UNION ALL SELECT * FROM ({COUNTING})"
        );
        let mut live = db.stream(&sql, ());
        live.next().await.unwrap().unwrap();
        db.execute("UPDATE steps SET n = 1000000000000", ())
            .await
            .unwrap();
        db.execute("UPDATE steps SET n = 3", ()).await.unwrap();
        let emitted = live.next().await.unwrap().unwrap();
        let values: Vec<_> = emitted.rows().iter().map(|row| row.values()[0].clone()).collect();
        let expected: Vec<Value> = (4..=5003).chain([3]).map(|n: i64| n.into()).collect();
        let wrong = values.iter().zip(&expected).position(|(is, due)| is != due);
        assert_eq!(wrong, None, "{:?}", wrong.map(|at| &values[at..at + 3]));
        drop(live);
        db.close().await.unwrap();
    });
}

// G121
#[test]
fn a_query_that_was_quick_so_far_and_does_not_end_holds_up_no_other() {
    // Which of them share a read is left to chance.
    for _ in 0..dice::throws(40) {
        pollster::block_on(queries_turn_slow_beside_others(1));
    }
}

// G121
#[test]
fn nor_do_as_many_of_them_as_there_are_live_threads() {
    for _ in 0..dice::throws(40) {
        pollster::block_on(queries_turn_slow_beside_others(2));
    }
}

async fn queries_turn_slow_beside_others(count: i64) {
    let db = with_steps(10).await;
    let mut turn_slow: Vec<_> = (0..count)
        .map(|i| db.stream(&format!("{COUNTING} WHERE i <> -1 - ?"), [i.into()]))
        .collect();
    // More than the writer makes itself.
    let mut others: Vec<_> = (0..40)
        .map(|i: i64| db.stream("SELECT n, ? FROM steps", [i.into()]))
        .collect();
    let change = |n: i64| db.execute("UPDATE steps SET n = ?", [n.into()]);
    for n in [10, 11] {
        change(n).await.unwrap();
        for live in turn_slow.iter_mut().chain(&mut others) {
            live.next().await.unwrap().unwrap();
        }
    }
    // From now on they do not come to an end.
    change(1_000_000_000_000).await.unwrap();
    for other in &mut others {
        other.next().await.unwrap().unwrap();
    }
    change(1_000_000_000_001).await.unwrap();
    for other in &mut others {
        other.next().await.unwrap().unwrap();
    }
    drop((turn_slow, others));
    db.close().await.unwrap();
}

/// Its first rows are found at once. To find those behind them takes hours.
const FIRST_ROWS: &str = "SELECT v.id FROM t JOIN v ON v.a + 0 = t.a + 0 ORDER BY t.id, v.id LIMIT 100";

// G142
#[test]
fn rows_behind_a_window_are_not_kept_if_it_takes_long_to_find_them() {
    let fixture = Fixture::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE v(id INTEGER PRIMARY KEY, a);
         INSERT INTO t SELECT value, iif(value = 1, 0, -value) FROM generate_series(1, 300000);
         INSERT INTO v SELECT value, iif(value <= 100, 0, value) FROM generate_series(1, 300000)",
    );
    let mut live = fixture.db.stream(FIRST_ROWS, ());
    assert_eq!(next_integers(&mut live).last(), Some(&100));
    for step in 1..=3 {
        fixture.run(&format!("INSERT INTO v VALUES (-{step}, 0)"));
        assert_eq!(next_integers(&mut live).last(), Some(&(100 - step)));
    }
    let stats = live.stats();
    assert_eq!((stats.maintained, stats.whole_not_kept), (0, 3));
}

// G142
#[test]
fn groups_behind_a_window_are_not_kept_if_it_takes_long_to_make_them() {
    // An index gives the groups in their order, so those of the window are made of few rows.
    let fixture = Fixture::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE INDEX t_a ON t(a);
         INSERT INTO t SELECT value, value FROM generate_series(1, 300000)",
    );
    let sql = "SELECT a, count(*) FROM t GROUP BY a LIMIT 100";
    let mut live = fixture.db.stream(sql, ());
    assert_eq!(next_integers(&mut live).first(), Some(&1));
    for step in 1..=3 {
        fixture.run(&format!("INSERT INTO t(a) VALUES (-{step})"));
        assert_eq!(next_integers(&mut live).first(), Some(&-step));
    }
    let stats = live.stats();
    assert_eq!((stats.maintained, stats.whole_not_kept), (0, 3));
}

// G136
#[test]
fn a_step_that_takes_longer_than_the_whole_query_is_given_up() {
    // No index finds the partners of a row of `t`, so each that has changed reads all of `u`: many times as long as the query.
    let fixture = Fixture::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE u(id INTEGER PRIMARY KEY, t, v);
         INSERT INTO t SELECT value, 0 FROM generate_series(1, 20000);
         INSERT INTO u SELECT value, value % 20000 + 1, 0 FROM generate_series(1, 60000)",
    );
    let sql = "SELECT t.a + u.v, t.id, u.id FROM t JOIN u ON u.t = t.id ORDER BY t.id, u.id";
    let mut live = fixture.db.stream(sql, ());
    assert_eq!(next_integers(&mut live).first(), Some(&0));
    let mut v = 0;
    while live.stats().maintained == 0 {
        v += 1;
        fixture.run("UPDATE u SET v = v + 1 WHERE id = 20000");
        assert_eq!(next_integers(&mut live).first(), Some(&v));
    }
    let before = live.stats().maintained;
    fixture.run("UPDATE t SET a = 10 WHERE id <= 2000");
    assert_eq!(next_integers(&mut live).first(), Some(&(v + 10)));
    assert_eq!(live.stats().maintained, before);
}

#[test]
fn a_statement_that_sqlite_plans_anew_for_its_parameters_is_no_change_of_everything() {
    pollster::block_on(async {
        let db = items().await;
        db.exec("CREATE TABLE other(a, b); CREATE INDEX by_a ON other(a) WHERE b = 1; ANALYZE")
            .await
            .unwrap();
        db.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO other SELECT i % 7, i % 2 FROM n; ANALYZE")
            .await
            .unwrap();
        let mut live = db.stream("SELECT name FROM items WHERE id = 1", ());
        live.next().await.unwrap().unwrap();
        for a in 0..9_i64 {
            db.execute(
                "UPDATE other SET a = a + 1 WHERE a = ? AND b = ?",
                [a.into(), (a % 2).into()],
            )
            .await
            .unwrap();
        }
        wait_until_quiet(&db);
        assert_eq!(live.stats().reruns, 0);
        drop(live);
        db.close().await.unwrap();
    });
}

/// As Drizzle writes it: a user with the posts of that user.
const RELATIONAL: &str = r#"select "id", "name", (select coalesce(json_group_array(json_array("id", "title")), json_array()) as "data" from (select * from "posts" "users_posts" where "users_posts"."author_id" = "users"."id" order by "users_posts"."id" desc limit ?) "users_posts") as "posts" from "users" "users" where "users"."id" = ? limit ?"#;

// G247
#[test]
fn of_a_thousand_relational_queries_by_key_a_write_re_runs_the_one_that_it_concerns() {
    const QUERIES: i64 = 1_000;
    pollster::block_on(async {
        let db = Database::open(":memory:", keyed(Options::default()))
            .await
            .unwrap();
        db.exec(
            "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT);
             CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER);
             CREATE INDEX posts_author ON posts(author_id);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                 INSERT INTO users SELECT i, 'user ' || i FROM n;
             INSERT INTO posts SELECT id, 'post ' || id, id FROM users;",
        )
        .await
        .unwrap();
        let of_user = |id: i64| db.stream(RELATIONAL, [5.into(), id.into(), 1.into()]);
        let mut live: Vec<_> = (1..=QUERIES).map(of_user).collect();
        for query in &mut live {
            query.next().await.unwrap().unwrap();
        }
        for (concerned, write) in [
            (500, "INSERT INTO posts(title, author_id) VALUES ('new', 500)"),
            (501, "UPDATE posts SET title = 'renamed' WHERE author_id = 501"),
            (502, "DELETE FROM posts WHERE author_id = 502"),
            (503, "UPDATE users SET name = 'renamed' WHERE id = 503"),
        ] {
            let reruns =
                |live: &[LiveQuery]| live.iter().map(|query| query.stats().reruns).collect::<Vec<_>>();
            let before = reruns(&live);
            db.execute(write, ()).await.unwrap();
            wait_until_quiet(&db);
            let more = reruns(&live)
                .iter()
                .zip(before)
                .map(|(now, before)| now - before)
                .collect::<Vec<_>>();
            let expected: Vec<u64> = (1..=QUERIES).map(|id| u64::from(id == concerned)).collect();
            assert_eq!(more, expected, "{write}");
        }
        drop(live);
        db.close().await.unwrap();
    });
}
