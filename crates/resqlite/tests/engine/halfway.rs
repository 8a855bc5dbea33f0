//! A statement that fails changes nothing, whatever it is and wherever it stands.

use resqlite::{Database, Options, Result, Rows, Value, WriteResult};

use crate::support::{Fixture, ask, block_on, integers};

// The table is shared with the tests that derive it.
#[allow(dead_code)]
#[path = "../../src/connection/halfway/cases.rs"]
mod cases;

use cases::{FAILING, LENGTH_MAX, SCHEMA, TABLES};

const MARK: &str = "INSERT INTO marks VALUES (1)";

fn fixture() -> Fixture {
    let values_are_bounded = Options {
        untrusted: Some(true),
        ..Options::default()
    };
    let fixture = Fixture::with(&format!("{SCHEMA} CREATE TABLE marks(x);"), values_are_bounded);
    let too_large = format!("SELECT zeroblob({LENGTH_MAX} + 1)");
    assert!(block_on(fixture.db.select(&too_large, ())).is_err());
    fixture
}

/// The rows of all tables but the marks.
fn contents(db: &Database) -> Vec<Vec<Vec<Value>>> {
    let tables = block_on(db.select(TABLES, ())).unwrap();
    let names = tables.iter().map(|row| match &row.values()[0] {
        Value::Text(name) => name.clone(),
        other => panic!("{other:?} is no name"),
    });
    let rows = |rows: Rows| rows.iter().map(|row| row.values().to_vec()).collect();
    let select = |name| rows(block_on(db.select(&format!("SELECT * FROM {name}"), ())).unwrap());
    names.filter(|name| name != "marks").map(select).collect()
}

fn marks(fixture: &Fixture) -> i64 {
    fixture.integers("SELECT count(*) FROM marks")[0]
}

// G40
#[test]
fn a_statement_that_fails_by_itself_changes_nothing() {
    let fixture = fixture();
    let before = contents(&fixture.db);
    let commit = fixture.db.engine().last_commit();
    for sql in FAILING {
        fixture.fails(sql);
        assert_eq!(contents(&fixture.db), before, "{sql}");
    }
    assert_eq!(fixture.db.engine().last_commit(), commit);
}

// G40
#[test]
fn a_statement_that_fails_between_writes_that_wait_with_it_changes_nothing() {
    let fixture = fixture();
    let before = contents(&fixture.db);
    for (count, sql) in FAILING.iter().enumerate() {
        let holds_the_writer = block_on(fixture.db.begin(None)).unwrap();
        let asked = [MARK, sql, MARK].map(|sql| ask(fixture.db.execute(sql, ())));
        drop(holds_the_writer);
        let done: Vec<Result<WriteResult>> = asked.into_iter().map(|asked| asked.wait()).collect();
        assert!(matches!(&done[..], [Ok(_), Err(_), Ok(_)]), "{sql}: {done:?}");
        assert_eq!(contents(&fixture.db), before, "{sql}");
        assert_eq!(marks(&fixture), 2 * (count as i64 + 1), "{sql}");
    }
}

/// `OR ROLLBACK` and the like end the transaction, as they say.
fn ends_the_transaction(sql: &str) -> bool {
    sql.contains("ROLLBACK") || sql.contains("or_rollback") || sql.ends_with("(7), (3)")
}

// G58
#[test]
fn a_statement_that_fails_in_a_transaction_changes_nothing_and_the_transaction_goes_on() {
    let fixture = fixture();
    let before = contents(&fixture.db);
    let mut kept = 0;
    for sql in FAILING {
        let tx = block_on(fixture.db.begin(None)).unwrap();
        block_on(tx.execute(MARK, ())).unwrap();
        block_on(tx.execute(sql, ())).expect_err(sql);
        let marked = block_on(tx.execute(MARK, ()));
        assert_eq!(marked.is_err(), ends_the_transaction(sql), "{sql}: {marked:?}");
        if marked.is_ok() {
            block_on(tx.commit()).expect(sql);
            kept += 2;
        }
        assert_eq!(contents(&fixture.db), before, "{sql}");
        assert_eq!(marks(&fixture), kept, "{sql}");
    }
}

// G58
#[test]
fn a_script_or_batch_with_a_statement_that_fails_changes_nothing_in_a_transaction() {
    let fixture = fixture();
    let before = contents(&fixture.db);
    for sql in FAILING {
        let tx = block_on(fixture.db.begin(None)).unwrap();
        block_on(tx.exec(&format!("{MARK}; {sql}"))).expect_err(sql);
        let failed = block_on(tx.execute_batch(sql, &[vec![], vec![]]));
        failed.expect_err(sql);
        let counted = block_on(tx.select("SELECT count(*) FROM marks", ()));
        assert_eq!(counted.is_err(), ends_the_transaction(sql), "{sql}: {counted:?}");
        if let Ok(rows) = counted {
            assert_eq!(integers(&rows), [0], "{sql}");
            block_on(tx.commit()).expect(sql);
        }
        assert_eq!(contents(&fixture.db), before, "{sql}");
    }
}
