use resqlite_sqlite::{Access, Connection, Result, Statement, limit};

use super::{
    cases::{FAILING, LENGTH_MAX, PLAIN, SCHEMA, TABLES},
    may_fail_halfway,
};

fn connection() -> Connection {
    let connection = Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap();
    connection.set_limit(limit::LENGTH, LENGTH_MAX);
    connection.execute_script("PRAGMA foreign_keys = ON").unwrap();
    connection.execute_script(SCHEMA).unwrap();
    connection
}

fn prepare(connection: &Connection, sql: &str) -> Statement {
    connection.prepare(sql, false).unwrap().statement.unwrap()
}

/// The rows of a query, each as one text.
fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut query = prepare(connection, sql);
    let mut rows = Vec::new();
    while query.step().unwrap() {
        let texts = (0..query.column_count()).map(|column| query.column_text(column).unwrap_or_default());
        rows.push(texts.collect::<Vec<_>>().join("|"));
    }
    rows
}

fn contents(connection: &Connection) -> Vec<Vec<String>> {
    let tables = rows(connection, TABLES);
    tables
        .iter()
        .map(|table| rows(connection, &format!("SELECT * FROM {table}")))
        .collect()
}

fn run(connection: &Connection, sql: &str) -> Result<()> {
    let mut statement = prepare(connection, sql);
    while statement.step()? {}
    Ok(())
}

/// SQLite's own action when a statement fails inside a transaction.
fn leaves_something(connection: &Connection, sql: &str) -> bool {
    let before = contents(connection);
    connection.execute_script("BEGIN").unwrap();
    run(connection, sql).expect_err(sql);
    let leaves = contents(connection) != before;
    if !connection.is_autocommit() {
        connection.execute_script("ROLLBACK").unwrap();
    }
    leaves
}

/// Prints the table of statements with `--nocapture`.
// G40
#[test]
fn every_statement_that_sqlite_leaves_half_done_is_known_to_be_one() {
    let connection = connection();
    let mut half_done = 0;
    println!("savepoint  left by SQLite  statement");
    for sql in FAILING {
        let (savepoint, leaves) = (
            may_fail_halfway(&connection, sql),
            leaves_something(&connection, sql),
        );
        let mark = |yes| if yes { "yes" } else { "-" };
        println!("{:<9}  {:<14}  {sql}", mark(savepoint), mark(leaves));
        assert!(savepoint || !leaves, "{sql}");
        half_done += usize::from(leaves);
    }
    assert!(half_done > 20, "{half_done}");
}

#[test]
fn writes_of_one_row_need_no_savepoint() {
    let connection = connection();
    for sql in PLAIN {
        assert!(!may_fail_halfway(&connection, sql), "{sql}");
    }
}

#[test]
fn what_cannot_be_looked_at_may_fail_halfway() {
    assert!(may_fail_halfway(&connection(), "; INSERT INTO plain VALUES (1)"));
}
