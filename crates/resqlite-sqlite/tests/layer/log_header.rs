//! The header of a log, looked at from outside of its connection.

use std::thread;

use resqlite_sqlite::{Access, Connection};

fn open(path: &std::path::Path) -> Connection {
    Connection::open(path.to_str().unwrap(), Access::ReadWriteCreate, None).unwrap()
}

#[test]
fn the_state_of_a_log_changes_with_every_commit_of_anybody_and_with_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (one, other) = (open(&path), open(&path));
    one.execute_script("PRAGMA journal_mode = WAL; CREATE TABLE t(x)")
        .unwrap();
    other.execute_script("SELECT * FROM t").unwrap();
    let header = one.log_header().unwrap();
    let states = ["SELECT * FROM t", "BEGIN; INSERT INTO t VALUES (1)", "ROLLBACK"].map(|sql| {
        one.execute_script(sql).unwrap();
        header.read()
    });
    assert_eq!(states, [states[0]; 3]);
    let commits = [&one, &other, &one].map(|connection| {
        connection.execute_script("INSERT INTO t VALUES (1)").unwrap();
        let there = header.clone();
        thread::spawn(move || there.read()).join().unwrap()
    });
    let all = [states[0], commits[0], commits[1], commits[2]];
    assert!(all.iter().all(Option::is_some));
    assert!(all.windows(2).all(|two| two[0] != two[1]));
    other.execute_script("PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    assert_eq!(header.read(), commits[2]);
}

#[test]
fn nobody_reads_it_once_its_connection_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(&folder.path().join("a.db"));
    one.execute_script("PRAGMA journal_mode = WAL; CREATE TABLE t(x)")
        .unwrap();
    let header = one.log_header().unwrap();
    assert!(header.read().is_some());
    drop(one);
    assert_eq!(header.read(), None);
}

#[test]
fn a_database_without_a_log_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let one = open(&path);
    one.execute_script("CREATE TABLE t(x)").unwrap();
    assert!(one.log_header().is_none());
    one.execute_script("PRAGMA journal_mode = WAL").unwrap();
    assert!(open(&path).log_header().is_some());
}
