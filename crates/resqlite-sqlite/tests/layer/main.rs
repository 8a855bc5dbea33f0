//! The public interface of the crate.

mod connecting;
#[cfg(target_os = "linux")]
mod file_locks;
mod hooks;
mod log_header;
mod moving;
mod statements;

use resqlite_sqlite::{Access, Connection, Statement, ValueRef};

fn memory() -> Connection {
    Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap()
}

/// A connection that has run this script.
fn with(script: &str) -> Connection {
    let connection = memory();
    connection.execute_script(script).unwrap();
    connection
}

fn prepare(connection: &Connection, sql: &str) -> Statement {
    connection
        .prepare(sql, false)
        .unwrap()
        .statement
        .expect("one statement")
}

/// The integers in the first column.
fn integers(connection: &Connection, sql: &str) -> Vec<i64> {
    let mut statement = prepare(connection, sql);
    let mut found = Vec::new();
    while statement.step().unwrap() {
        match statement.column(0) {
            ValueRef::Integer(value) => found.push(value),
            other => panic!("{other:?}"),
        }
    }
    found
}
