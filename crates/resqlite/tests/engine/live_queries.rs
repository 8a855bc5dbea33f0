//! Live queries through the Rust API.

use resqlite::{Database, Options, Value};

async fn items() -> Database {
    let db = Database::open(":memory:", Options::default()).await.unwrap();
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
