//! Commits of other connections that the engine has not noticed. A maintained result must not mix two states.

use pollster::block_on;
use resqlite::{
    Database, Options,
    binding::Integers,
    live::{LiveQueryRequest, Maintenance},
};
use resqlite_sqlite::{Access, Connection};

use crate::{
    listening::{Fold, Notes},
    streams::wait_until_quiet,
    world::path_in,
};

const QUERY: &str = "SELECT id, a FROM t ORDER BY id";

// G137
#[test]
fn a_maintained_result_shows_what_a_stranger_has_committed_unnoticed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = path_in(&folder, "main.db");
    let options = Options {
        watch_external: Some(false),
        ..Options::default()
    };
    let db = block_on(Database::open(&path, options)).expect("the database opens");
    let execute = |sql: &str| block_on(db.execute(sql, ())).expect("the engine writes");
    block_on(
        db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)"),
    )
    .expect("the schema is right");
    let stranger = Connection::open(&path, Access::ReadWriteCreate, None).expect("another connection opens");
    let notes = Notes::default();
    let request = LiveQueryRequest {
        queries: vec![(QUERY.into(), ().into())],
        integers: Integers::BigInt,
        verify: 0.0,
        maintenance: Maintenance::Always,
    };
    let subscription = db.engine().subscribe(request, notes.listener(1));
    let check = || {
        wait_until_quiet(db.engine()).expect("streams come to rest");
        let fresh = block_on(db.select(QUERY, ())).expect("the query works");
        let told = notes.lock();
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        assert!(
            told.parts[0].equals(&Fold::of(&fresh)),
            "{:?} is not {fresh:?}",
            told.parts[0].rows
        );
    };
    check();
    for round in 1..20 {
        execute(&format!("UPDATE t SET a = {round} WHERE id = 1"));
        check();
        if round % 3 == 0 {
            let sql = format!("UPDATE t SET a = a + {round} WHERE id = 3");
            stranger.execute_script(&sql).expect("the stranger writes");
            execute(&format!("UPDATE t SET a = -{round} WHERE id = 2"));
            check();
        }
    }
    assert!(subscription.stats().maintained > 10, "{:?}", subscription.stats());
}
