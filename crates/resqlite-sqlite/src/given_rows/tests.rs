//! Statements read given rows.

use super::{GivenRows, Rows};
use crate::{Access, Connection, Statement, ValueRef, codes};

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
    /// Panics when it is read.
    Broken,
}

/// Each row with its rowid; a value that is missing is not known.
struct List(Vec<(Option<i64>, Vec<Value>)>);

impl Rows for List {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn rowid(&self, row: usize) -> Option<i64> {
        self.0[row].0
    }
    fn value(&self, row: usize, column: usize) -> Option<ValueRef<'_>> {
        Some(match self.0[row].1.get(column)? {
            Value::Null => ValueRef::Null,
            Value::Integer(integer) => ValueRef::Integer(*integer),
            Value::Real(real) => ValueRef::Real(*real),
            Value::Text(bytes) => ValueRef::Text(bytes),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
            Value::Broken => panic!("this value is broken"),
        })
    }
}

const COLUMNS: &str =
    "id INTEGER PRIMARY KEY, n INTEGER, r REAL, s TEXT, c TEXT COLLATE NOCASE, x, u NUMERIC";

/// A connection with the table `t`, and a table of given rows that is declared like it.
fn connection() -> (Connection, GivenRows) {
    let connection = Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap();
    connection
        .execute_script(&format!("CREATE TABLE t({COLUMNS})"))
        .unwrap();
    let given = connection.register_given_rows("sqlite_given", COLUMNS).unwrap();
    (connection, given)
}

fn statement(connection: &Connection, sql: &str) -> Statement {
    connection.prepare(sql, true).unwrap().statement.unwrap()
}

fn row(statement: &Statement) -> Vec<Value> {
    let columns = 0..statement.column_count();
    let values = columns.map(|column| match statement.column(column) {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(integer) => Value::Integer(integer),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(bytes) => Value::Text(bytes.into()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
    });
    values.collect()
}

/// The rows of a statement, or the message of its error.
fn rows_of(statement: &mut Statement) -> Result<Vec<Vec<Value>>, String> {
    let mut rows = Vec::new();
    let ended = loop {
        match statement.step() {
            Ok(true) => rows.push(row(statement)),
            Ok(false) => break Ok(()),
            Err(error) => break Err(error.message().to_owned()),
        }
    };
    statement.reset();
    ended.map(|()| rows)
}

fn query(connection: &Connection, sql: &str) -> Result<Vec<Vec<Value>>, String> {
    rows_of(&mut statement(connection, sql))
}

fn integers(integers: &[i64]) -> List {
    let row = |&integer| {
        (
            Some(integer),
            vec![Value::Integer(integer), Value::Integer(integer)],
        )
    };
    List(integers.iter().map(row).collect())
}

#[test]
fn every_query_reads_as_on_the_real_table() {
    let (connection, given) = connection();
    let values = [
        "NULL", "0", "5", "-5", "5.0", "0.5", "'5'", "'a'", "'A'", "'a '", "''", "x'61'", "x''",
    ];
    for (id, value) in values.iter().enumerate() {
        let sql = format!(
            "INSERT INTO t VALUES({}, {value}, {value}, {value}, {value}, {value}, {value})",
            id * 3
        );
        connection.execute_script(&sql).unwrap();
    }
    let all = query(&connection, "SELECT rowid, * FROM t").unwrap();
    let list = all.into_iter().map(|row| match row[0] {
        Value::Integer(rowid) => (Some(rowid), row[1..].to_vec()),
        _ => panic!("a rowid is an integer"),
    });
    let list = List(list.collect());
    let mut texts = vec![
        "SELECT rowid, id, typeof(n), typeof(r), typeof(s), x || s FROM t".to_owned(),
        "SELECT * FROM t ORDER BY c, rowid".to_owned(),
        "SELECT c, count(*) FROM t GROUP BY c ORDER BY c, count(*)".to_owned(),
        "SELECT t.id, o.id FROM t JOIN t AS o ON o.s = t.n AND o.c = t.x".to_owned(),
        "SELECT max(rowid), min(x), sum(n) FROM t WHERE rowid > '6'".to_owned(),
    ];
    for column in ["id", "rowid", "n", "r", "s", "c", "x", "u"] {
        for value in values {
            for compare in ["=", "IS", "<", "BETWEEN '0' AND", "IN (SELECT", "LIKE"] {
                let end = if compare.ends_with('T') { ")" } else { "" };
                texts.push(format!(
                    "SELECT id FROM t WHERE {column} {compare} {value}{end} ORDER BY id"
                ));
            }
        }
    }
    for text in texts {
        let of_given = text
            .replace(" t ", " sqlite_given AS t ")
            .replace("FROM t", "FROM sqlite_given AS t");
        let of_given = of_given.replace("AS t AS o", "AS o");
        let shown = given.show(&list, || query(&connection, &of_given));
        assert_eq!(shown, query(&connection, &text), "{of_given}");
    }
}

#[test]
fn a_value_that_is_not_known_ends_the_statement_that_asks_for_it() {
    let (connection, given) = connection();
    let list = List(vec![(None, vec![Value::Integer(1)])]);
    let shown = |sql| given.show(&list, || query(&connection, sql));
    assert_eq!(
        shown("SELECT id FROM sqlite_given"),
        Ok(vec![vec![Value::Integer(1)]])
    );
    let unknown = "the value of column 3 of row 0 of sqlite_given is not known";
    assert_eq!(
        shown("SELECT id FROM sqlite_given WHERE s IS NULL"),
        Err(unknown.into())
    );
    let unknown = "the rowid of row 0 of sqlite_given is not known";
    assert_eq!(shown("SELECT rowid FROM sqlite_given"), Err(unknown.into()));
}

#[test]
fn a_panic_ends_the_statement_and_nothing_else() {
    let (connection, given) = connection();
    let list = List(vec![(None, vec![Value::Broken])]);
    let mut all = statement(&connection, "SELECT id FROM sqlite_given");
    let message = given.show(&list, || rows_of(&mut all));
    assert_eq!(message, Err("the rows of sqlite_given panicked".into()));
    assert_eq!(given.show(&integers(&[]), || rows_of(&mut all)), Ok(vec![]));
}

#[test]
fn a_join_begins_with_the_given_rows() {
    let (connection, _given) = connection();
    connection.execute_script("CREATE INDEX by_n ON t(n)").unwrap();
    for join in [
        "t JOIN sqlite_given AS g ON t.n = g.n",
        "sqlite_given AS g JOIN t ON t.id = g.n",
    ] {
        let plan = query(
            &connection,
            &format!("EXPLAIN QUERY PLAN SELECT t.x, g.n FROM {join}"),
        )
        .unwrap();
        let first = format!(
            "{:?}",
            String::from_utf8_lossy(match &plan[0][3] {
                Value::Text(detail) => detail,
                _ => panic!("the plan is text"),
            })
        );
        assert!(first.contains("SCAN g VIRTUAL TABLE"), "{first}");
    }
}

#[test]
fn one_statement_reads_other_rows_in_each_show() {
    let (connection, given) = connection();
    let mut all = statement(&connection, "SELECT n FROM sqlite_given");
    for list in [&[1, 2][..], &[3], &[]] {
        let expected: Vec<_> = list.iter().map(|&n| vec![Value::Integer(n)]).collect();
        assert_eq!(given.show(&integers(list), || rows_of(&mut all)), Ok(expected));
    }
}

#[test]
fn without_a_show_there_are_no_rows() {
    let (connection, given) = connection();
    let mut all = statement(&connection, "SELECT n FROM sqlite_given");
    assert_eq!(rows_of(&mut all), Err("no rows of sqlite_given are given".into()));
    given.show(&integers(&[1]), || all.step().unwrap());
    all.reset();
    assert_eq!(rows_of(&mut all), Err("no rows of sqlite_given are given".into()));
}

#[test]
fn a_statement_that_outlives_its_show_fails() {
    let (connection, given) = connection();
    let mut all = statement(&connection, "SELECT n FROM sqlite_given");
    let list = integers(&[1, 2]);
    given.show(&list, || assert!(all.step().unwrap()));
    drop(list);
    assert_eq!(row(&all), [Value::Integer(1)], "the row that was read stays");
    let gone = "the rows of sqlite_given are no longer given";
    let other = integers(&[3, 4]);
    given.show(&other, || assert_eq!(all.step().unwrap_err().message(), gone));
}

#[test]
fn a_show_within_a_show_has_rows_of_its_own() {
    let (connection, given) = connection();
    let mut outer = statement(&connection, "SELECT n FROM sqlite_given");
    let mut inner = statement(&connection, "SELECT n FROM sqlite_given");
    given.show(&integers(&[1, 2]), || {
        assert!(outer.step().unwrap());
        let shown = given.show(&integers(&[7]), || rows_of(&mut inner));
        assert_eq!(shown, Ok(vec![vec![Value::Integer(7)]]));
        assert!(outer.step().unwrap());
        assert_eq!(row(&outer), [Value::Integer(2)]);
    });
}

#[test]
fn a_panic_within_a_show_ends_it() {
    let (connection, given) = connection();
    let list = integers(&[1]);
    let work = std::panic::AssertUnwindSafe(|| given.show(&list, || panic!("on purpose")));
    std::panic::catch_unwind(work).unwrap_err();
    let message = query(&connection, "SELECT n FROM sqlite_given");
    assert_eq!(message, Err("no rows of sqlite_given are given".into()));
}

#[test]
fn a_table_goes_with_its_owner_and_may_be_registered_again() {
    let (connection, given) = connection();
    let error = connection.register_given_rows("SQLITE_Given", "a").err().unwrap();
    assert_eq!(error.code(), codes::MISUSE);
    let message = "the connection has a table of given rows named SQLITE_Given already";
    assert_eq!(error.message(), message);
    let mut open = statement(&connection, "SELECT n FROM sqlite_given");
    given.show(&integers(&[1, 2]), || open.step().unwrap());
    drop(given);
    let gone = "the rows of sqlite_given are no longer given";
    assert_eq!(open.step().unwrap_err().message(), gone);
    let missing = connection
        .prepare("SELECT 1 FROM sqlite_given", false)
        .err()
        .unwrap();
    assert_eq!(missing.message(), "no such table: sqlite_given");

    let again = connection.register_given_rows("sqlite_given", "a").unwrap();
    let shown = again.show(&integers(&[5]), || {
        query(&connection, "SELECT * FROM sqlite_given")
    });
    assert_eq!(shown, Ok(vec![vec![Value::Integer(5)]]));
}

#[test]
fn it_may_outlive_its_connection() {
    let (connection, given) = connection();
    let mut all = statement(&connection, "SELECT n FROM sqlite_given");
    drop(connection);
    let shown = given.show(&integers(&[1]), || rows_of(&mut all));
    assert_eq!(shown, Ok(vec![vec![Value::Integer(1)]]));
    drop(given);
    drop(all);
}

#[test]
fn columns_that_sqlite_does_not_take_are_refused() {
    let (connection, _given) = connection();
    let refused = |columns| {
        connection
            .register_given_rows("sqlite_other", columns)
            .err()
            .unwrap()
    };
    assert_eq!(refused("a, a").message(), "duplicate column name: a");
    assert_eq!(refused("").message(), "near \")\": syntax error");
    assert_eq!(refused("a\0").code(), codes::MISUSE);
    connection.register_given_rows("sqlite_other", "a").unwrap();
}

#[test]
fn a_statement_that_is_older_than_its_table_is_prepared_again() {
    let (connection, given) = connection();
    let mut all = statement(&connection, "SELECT * FROM sqlite_given");
    drop(given);
    let again = connection.register_given_rows("sqlite_given", "b, n").unwrap();
    let shown = again.show(&integers(&[5]), || rows_of(&mut all));
    assert_eq!(shown, Ok(vec![vec![Value::Integer(5), Value::Integer(5)]]));
    drop(again);
    assert_eq!(rows_of(&mut all), Err("no such table: sqlite_given".into()));
}
