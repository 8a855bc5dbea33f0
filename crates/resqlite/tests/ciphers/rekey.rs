//! Changing the key.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use resqlite::{Key, Options};
use resqlite_sqlite::{Access, Connection};

use crate::support::{Fixture, block_on, open, raw, refused, rows};

#[test]
fn after_a_change_only_the_new_key_opens_the_database() {
    let keys = [
        raw(1),
        raw(2),
        Key::passphrase("words").unwrap(),
        Key::passphrase("other words").unwrap(),
    ];
    for old in &keys {
        for new in keys.iter().filter(|new| *new != old) {
            let fixture = Fixture::new(old);
            let path = fixture.path();
            block_on(fixture.db.rekey(new.clone())).unwrap();
            block_on(fixture.db.execute("INSERT INTO t(b) VALUES ('more')", ())).unwrap();
            assert_eq!(rows(&fixture.db), Ok(2), "its connections have the new key");
            refused(open(&path, Some(old)), "the key is wrong");
            let Fixture { db, folder: _folder } = fixture;
            block_on(db.close()).unwrap();
            refused(open(&path, Some(old)), "the key is wrong");
            assert_eq!(rows(&open(&path, Some(new)).unwrap()), Ok(2));
        }
    }
}

// G297
#[test]
fn reads_and_writes_go_on_while_the_key_changes() {
    let fixture = Arc::new(Fixture::new(&raw(0)));
    let done = Arc::new(AtomicBool::new(false));
    let work = |write: bool| {
        let (fixture, done) = (Arc::clone(&fixture), Arc::clone(&done));
        thread::spawn(move || {
            let mut count = 0_i64;
            while !done.load(Ordering::Relaxed) || count < 10 {
                if write {
                    block_on(
                        fixture
                            .db
                            .execute("INSERT INTO t(b) VALUES (randomblob(2000))", ()),
                    )
                    .unwrap();
                } else {
                    assert!(rows(&fixture.db).unwrap() > 0);
                }
                count += 1;
            }
            count
        })
    };
    let (reader, writer) = (work(false), work(true));
    for key in 1..=20 {
        block_on(fixture.db.rekey(raw(key))).unwrap();
    }
    done.store(true, Ordering::Relaxed);
    assert!(reader.join().unwrap() > 0);
    let written = writer.join().unwrap();
    assert_eq!(rows(&fixture.db), Ok(written + 1));
    let check = block_on(fixture.db.select("PRAGMA integrity_check", ())).unwrap();
    assert_eq!(check.first().unwrap().values()[0], "ok".into());
}

// G297
#[test]
fn live_queries_go_on_with_the_new_key() {
    let fixture = Fixture::new(&raw(1));
    let mut live = fixture.db.stream("SELECT a FROM t", ());
    let count = |emitted: Option<resqlite::Result<resqlite::Emitted>>| emitted.unwrap().unwrap().rows().len();
    assert_eq!(count(block_on(live.next())), 1);
    for key in 2..5 {
        block_on(fixture.db.rekey(raw(key))).unwrap();
        block_on(fixture.db.execute("INSERT INTO t(b) VALUES ('more')", ())).unwrap();
        assert_eq!(count(block_on(live.next())), usize::from(key));
    }
}

// G298
#[test]
fn a_snapshot_keeps_the_key_as_it_is() {
    let fixture = Fixture::new(&raw(1));
    let snapshot = block_on(fixture.db.snapshot()).unwrap();
    let refused = block_on(fixture.db.rekey(raw(2))).unwrap_err();
    assert_eq!(refused.code(), "RESQLITE_ENCRYPTION_KEY");
    assert!(
        refused.to_string().contains("a snapshot or an iterator is open"),
        "{refused}"
    );
    block_on(snapshot.select("SELECT a FROM t", ())).unwrap();
    drop(snapshot);
    assert_eq!(rows(&fixture.db), Ok(1));
    assert_eq!(rows(&open(&fixture.path(), Some(&raw(1))).unwrap()), Ok(1));
}

// G298
#[test]
fn attached_databases_keep_the_key_as_it_is() {
    let fixture = Fixture::new(&raw(1));
    let other = fixture.file("other.db");
    block_on(fixture.db.exec(&format!("ATTACH '{other}' AS other"))).unwrap();
    let refused = block_on(fixture.db.rekey(raw(2))).unwrap_err();
    assert!(
        refused.to_string().contains("databases are attached"),
        "{refused}"
    );
}

#[test]
fn a_database_that_is_not_encrypted_does_not_become_so() {
    let db = open(":memory:", None).unwrap();
    let refused = block_on(db.rekey(raw(1))).unwrap_err();
    assert!(refused.to_string().contains("the database has none"), "{refused}");
}

#[test]
fn a_read_only_database_keeps_its_key() {
    let Fixture { db, folder } = Fixture::new(&raw(1));
    block_on(db.close()).unwrap();
    let options = Options {
        read_only: true,
        ..crate::support::with_key(Some(&raw(1)))
    };
    let path = crate::support::path_in(&folder, "test.db");
    let db = block_on(resqlite::Database::open(&path, options)).unwrap();
    assert_eq!(
        block_on(db.rekey(raw(2))).unwrap_err().code(),
        "RESQLITE_READ_ONLY"
    );
}

// G298
#[test]
fn a_reader_in_another_process_keeps_the_key_as_it_is() {
    let key = raw(1);
    let folder = tempfile::tempdir().unwrap();
    let path = crate::support::path_in(&folder, "test.db");
    let options = Options {
        busy_timeout: Some(std::time::Duration::from_millis(20)),
        ..crate::support::with_key(Some(&key))
    };
    let db = block_on(resqlite::Database::open(&path, options)).unwrap();
    block_on(db.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)")).unwrap();
    let stranger = Connection::open(&path, Access::ReadOnly, None).unwrap();
    stranger.set_key(&key).unwrap();
    stranger.execute_script("BEGIN; SELECT * FROM t").unwrap();
    let refused = block_on(db.rekey(raw(2))).unwrap_err();
    assert!(refused.to_string().contains("another process reads"), "{refused}");
    stranger.execute_script("COMMIT").unwrap();
    block_on(db.rekey(raw(2))).unwrap();
    assert_eq!(rows(&db), Ok(1));
    let error = stranger.execute_script("SELECT * FROM t").unwrap_err();
    assert_eq!(
        error.name(),
        "SQLITE_NOTADB",
        "who has the old key sees that it is wrong"
    );
}

// G298
#[test]
fn where_the_old_key_is_still_in_use_errors_say_that_it_is_wrong() {
    let fixture = Fixture::new(&raw(1));
    let options = Options {
        read_only: true,
        ..crate::support::with_key(Some(&raw(1)))
    };
    let elsewhere = block_on(resqlite::Database::open(&fixture.path(), options)).unwrap();
    assert_eq!(rows(&elsewhere), Ok(1));
    block_on(fixture.db.rekey(raw(2))).unwrap();
    let error = rows(&elsewhere).unwrap_err();
    assert_eq!(error.code(), "RESQLITE_ENCRYPTION_KEY", "{error}");
    assert!(error.to_string().contains("the key is wrong"), "{error}");
}
