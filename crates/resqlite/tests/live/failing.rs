//! Runs that fail after they have handed rows over.

use pollster::block_on;
use resqlite::{
    Database, Options, Value,
    binding::Integers,
    live::{LiveQueryRequest, Maintenance},
};

use crate::{key::keyed, listening::Notes, streams::wait_until_quiet};

// G112
#[test]
fn an_error_is_told_once_until_it_is_healed_and_rows_of_failed_runs_are_void() {
    let open = Database::open(":memory:", keyed(Options::default()));
    let db = block_on(open).expect("the database opens");
    let write = |sql: &str| {
        block_on(db.exec(sql)).expect("the statement is right");
        wait_until_quiet(db.engine()).expect("streams come to rest");
    };
    write("CREATE TABLE t(a); CREATE TABLE u(a); INSERT INTO t VALUES (1); INSERT INTO u VALUES (-1)");
    let notes = Notes::default();
    // The rows of the first are handed over before the second fails.
    let request = LiveQueryRequest {
        queries: ["SELECT a FROM t", "SELECT abs(a) FROM u"]
            .map(|sql| (sql.into(), ().into()))
            .into(),
        integers: Integers::BigInt,
        verify: 0.0,
        maintenance: Maintenance::default(),
    };
    let _subscription = db.engine().subscribe(request, notes.listener(2));
    wait_until_quiet(db.engine()).expect("streams come to rest");
    let told = || {
        let told = notes.lock();
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        (told.emissions, told.errors, told.parts[0].rows.len())
    };
    assert_eq!(told(), (1, 0, 1));
    write("UPDATE u SET a = -9223372036854775808");
    assert_eq!(told(), (1, 1, 1));
    write("INSERT INTO t VALUES (2)");
    write("DELETE FROM t WHERE a = 2");
    assert_eq!(told(), (1, 1, 1));
    write("UPDATE u SET a = -2");
    assert_eq!(told(), (2, 1, 1));
    assert_eq!(notes.lock().parts[1].rows, [[Value::Integer(2)]]);
    write("UPDATE u SET a = -9223372036854775808");
    assert_eq!(told(), (2, 2, 1));
}
