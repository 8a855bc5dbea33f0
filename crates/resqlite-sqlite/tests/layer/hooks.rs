//! Callbacks: their arguments, and panics in them.

use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

use resqlite_sqlite::{Connection, RowOperation, ValueRef, action, codes};

use crate::{integers, memory, prepare};

/// Operation, table, old row id, new row id, depth.
type Event = (RowOperation, String, i64, i64, usize);

/// A connection with this schema, and the row events since then.
fn watched(schema: &str) -> (Connection, Rc<RefCell<Vec<Event>>>) {
    let connection = memory();
    let events: Rc<RefCell<Vec<Event>>> = Rc::default();
    let kept = Rc::clone(&events);
    connection.set_preupdate_hook(move |event| {
        let table = format!("{}.{}", event.schema, event.table);
        kept.borrow_mut().push((
            event.operation,
            table,
            event.old_rowid,
            event.new_rowid,
            event.depth(),
        ));
    });
    connection.execute_script(schema).unwrap();
    events.borrow_mut().clear();
    (connection, events)
}

#[test]
fn a_delete_without_where_reports_every_row() {
    let (connection, events) = watched("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)");
    connection.execute_script("DELETE FROM t").unwrap();
    assert_eq!(events.borrow().len(), 2);
}

#[test]
fn replace_reports_the_delete_and_the_insert() {
    let (connection, events) = watched("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)");
    connection
        .execute_script("REPLACE INTO t(rowid, a) VALUES (9, 1)")
        .unwrap();
    let operations: Vec<_> = events.borrow().iter().map(|event| event.0).collect();
    assert_eq!(operations, [RowOperation::Delete, RowOperation::Insert]);
}

#[test]
fn an_update_of_the_key_reports_both_row_ids() {
    let (connection, events) = watched("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)");
    connection.execute_script("UPDATE t SET id = 5").unwrap();
    assert_eq!(
        events.borrow()[..],
        [(RowOperation::Update, "main.t".into(), 1, 5, 0)]
    );
}

#[test]
fn changes_by_triggers_and_cascades_are_reported_with_their_depth() {
    let (connection, events) = watched(
        "PRAGMA foreign_keys = ON; CREATE TABLE p(id INTEGER PRIMARY KEY);
         CREATE TABLE c(p REFERENCES p ON DELETE CASCADE); INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)",
    );
    connection.execute_script("DELETE FROM p").unwrap();
    let depths: Vec<_> = events
        .borrow()
        .iter()
        .map(|event| (event.1.clone(), event.4))
        .collect();
    assert_eq!(depths, [("main.p".into(), 0), ("main.c".into(), 1)]);
}

#[test]
fn an_update_has_old_and_new_values_an_insert_new_and_a_delete_old_ones() {
    let connection = memory();
    let seen: Rc<RefCell<Vec<String>>> = Rc::default();
    let kept = Rc::clone(&seen);
    connection.set_preupdate_hook(move |event| {
        let line = format!(
            "{:?} -> {:?} of {}",
            event.old_value(0),
            event.new_value(0),
            event.column_count()
        );
        kept.borrow_mut().push(line);
    });
    connection
        .execute_script(
            "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2); UPDATE t SET a = 3; DELETE FROM t",
        )
        .unwrap();
    let t: Vec<_> = seen
        .borrow()
        .iter()
        .filter(|line| line.ends_with("of 2"))
        .cloned()
        .collect();
    let integer = |value| format!("{:?}", Some(ValueRef::Integer(value)));
    assert_eq!(
        t,
        [
            format!("None -> {} of 2", integer(1)),
            format!("{} -> {} of 2", integer(1), integer(3)),
            format!("{} -> None of 2", integer(3)),
        ]
    );
}

#[test]
fn the_authorizer_can_refuse_and_sees_the_trigger_that_causes_an_action() {
    let connection = memory();
    let seen: Rc<RefCell<Vec<String>>> = Rc::default();
    let kept = Rc::clone(&seen);
    connection.set_authorizer(move |asked| {
        if asked.code == action::INSERT {
            kept.borrow_mut()
                .push(format!("{:?} {:?}", asked.first, asked.through));
        }
        asked.first != Some("secret")
    });
    connection
        .execute_script(
            "CREATE TABLE t(a); CREATE TABLE u(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO u VALUES (1); END",
        )
        .unwrap();
    seen.borrow_mut().clear();
    connection.execute_script("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(seen.borrow()[..], [r#"Some("t") None"#, r#"Some("u") Some("r")"#]);
    let error = connection.execute_script("CREATE TABLE secret(a)").unwrap_err();
    assert_eq!(error.primary(), codes::AUTH);
}

#[test]
fn the_progress_handler_interrupts_a_statement_and_the_next_one_runs() {
    let connection = memory();
    let stop = Rc::new(Cell::new(true));
    let stopping = Rc::clone(&stop);
    connection.set_progress_handler(100, move || !stopping.get());
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let error = prepare(&connection, endless).step().unwrap_err();
    assert_eq!(error.primary(), codes::INTERRUPT);
    stop.set(false);
    assert_eq!(integers(&connection, "SELECT 1"), [1]);
}

#[test]
fn the_busy_handler_is_called_until_it_gives_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let open = || {
        let access = resqlite_sqlite::Access::ReadWriteCreate;
        Connection::open(path.to_str().unwrap(), access, None).unwrap()
    };
    let (holder, waiter) = (open(), open());
    holder
        .execute_script("CREATE TABLE t(a); BEGIN IMMEDIATE")
        .unwrap();
    let attempts: Rc<RefCell<Vec<u32>>> = Rc::default();
    let kept = Rc::clone(&attempts);
    waiter.set_busy_handler(move |attempt| {
        kept.borrow_mut().push(attempt);
        attempt < 3
    });
    let error = waiter.execute_script("BEGIN IMMEDIATE").unwrap_err();
    assert_eq!(error.primary(), codes::BUSY);
    assert_eq!(attempts.borrow()[..], [0, 1, 2, 3]);
}

#[test]
fn a_panic_in_a_callback_is_resumed_in_rust_and_leaves_the_connection_usable() {
    let connection = memory();
    connection.execute_script("CREATE TABLE t(a)").unwrap();
    let panics = Rc::new(Cell::new(true));
    let panicking = Rc::clone(&panics);
    connection.set_preupdate_hook(move |_| assert!(!panicking.get(), "on purpose"));
    let insert = || connection.execute_script("INSERT INTO t VALUES (1)");
    let payload = catch_unwind(AssertUnwindSafe(insert)).expect_err("the panic is resumed");
    assert!(
        payload
            .downcast_ref::<&str>()
            .is_some_and(|text| text.contains("on purpose"))
    );
    panics.set(false);
    insert().unwrap();
}

#[test]
fn a_panic_in_the_authorizer_refuses_the_statement() {
    let connection = memory();
    connection.set_authorizer(|_| panic!("on purpose"));
    assert!(catch_unwind(AssertUnwindSafe(|| connection.prepare("SELECT 1", false).is_ok())).is_err());
}

#[test]
fn the_commit_hook_comes_when_virtual_tables_have_written() {
    let (connection, events) =
        watched("CREATE VIRTUAL TABLE f USING fts5(a); BEGIN; INSERT INTO f VALUES ('b')");
    let written = |events: &[Event]| events.iter().any(|event| event.1 == "main.f_data");
    assert!(!written(&events.borrow()));
    let (seen, seen_by_hook) = (Rc::new(Cell::new(false)), Rc::clone(&events));
    let kept = Rc::clone(&seen);
    connection.set_commit_hook(move || {
        kept.set(written(&seen_by_hook.borrow()));
        true
    });
    connection.execute_script("COMMIT").unwrap();
    assert!(seen.get());
}

#[test]
fn the_commit_hook_can_turn_commit_into_rollback() {
    let connection = memory();
    connection.set_commit_hook(|| false);
    let error = connection.execute_script("CREATE TABLE t(a)").unwrap_err();
    assert_eq!(error.primary(), codes::CONSTRAINT);
    connection.set_commit_hook(|| true);
    connection.execute_script("CREATE TABLE t(a)").unwrap();
}

// G302
#[test]
fn a_savepoint_makes_virtual_tables_write_what_they_hold_back() {
    for module in ["fts4", "fts5"] {
        let (connection, events) = watched(&format!(
            "CREATE VIRTUAL TABLE f USING {module}(a); BEGIN; INSERT INTO f VALUES ('b')"
        ));
        connection.execute_script("SAVEPOINT s; RELEASE s").unwrap();
        let before = events.borrow().len();
        connection.execute_script("COMMIT").unwrap();
        assert_eq!(events.borrow().len(), before, "{module}");
    }
}

#[test]
fn triggers_can_be_switched_off() {
    let connection = memory();
    connection
        .execute_script("CREATE TABLE t(a); CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END")
        .unwrap();
    connection.set_triggers(false).unwrap();
    connection.execute_script("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(integers(&connection, "SELECT a FROM t"), [1]);
    connection.set_triggers(true).unwrap();
    connection.execute_script("INSERT INTO t VALUES (2)").unwrap();
    assert_eq!(integers(&connection, "SELECT count(*) FROM t"), [0]);
}
