//! Functions that every connection has: built-in ones and those of the program.

use resqlite::{Aggregate, Error, Function, Options, Value, ValueRef};

use crate::support::{Fixture, block_on, next_integers, open_with, single};

/// The only value of a query.
fn value(fixture: &Fixture, sql: &str) -> Value {
    single(&fixture.select(sql))
}

fn text(fixture: &Fixture, sql: &str) -> String {
    match value(fixture, sql) {
        Value::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn read_fails(fixture: &Fixture, sql: &str) -> String {
    block_on(fixture.db.select(sql, ())).unwrap_err().to_string()
}

fn with(function: Function) -> Options {
    Options::default().register_function(function)
}

// G223
#[test]
fn regexp_finds_a_pattern_anywhere_in_a_text() {
    let fixture =
        Fixture::new("CREATE TABLE t(a); INSERT INTO t VALUES ('Zürich'), ('Bern'), (7301), (NULL)");
    let rows = |pattern: &str| {
        let sql = format!("SELECT rowid FROM t WHERE a REGEXP '{pattern}' ORDER BY rowid");
        fixture.integers(&sql)
    };
    assert_eq!(rows("r"), [1, 2]);
    assert_eq!(rows("^Z.rich$"), [1]);
    assert_eq!(rows("(?i)^b"), [2]);
    assert_eq!(rows(r"^\d+$"), [3]);
    assert_eq!(value(&fixture, "SELECT NULL REGEXP 'a'"), Value::Null);
    assert_eq!(value(&fixture, "SELECT 'a' REGEXP NULL"), Value::Null);
    assert_eq!(value(&fixture, "SELECT x'ff61' REGEXP 'a$'"), 1.into());
}

// G223
#[test]
fn a_pattern_may_come_from_each_row() {
    let fixture = Fixture::new("CREATE TABLE t(p); INSERT INTO t VALUES ('a'), ('b'), ('^a')");
    assert_eq!(fixture.integers("SELECT 'ba' REGEXP p FROM t"), [1, 1, 0]);
}

// G224
#[test]
fn a_pattern_that_is_wrong_or_too_complex_is_an_error() {
    let fixture = Fixture::new("");
    assert_eq!(
        read_fails(&fixture, "SELECT 'a' REGEXP '(a'"),
        r#"regexp: "(a" is no pattern: unclosed group"#
    );
    let complex = "SELECT 'a' REGEXP '((\\w{50}){50}){50}'";
    let message = "regexp: the pattern is too complex: compiled, it takes more than 1048576 bytes";
    assert_eq!(read_fails(&fixture, complex), message);
}

// G224, S12
#[test]
fn an_untrusted_database_takes_only_simpler_patterns() {
    let options = Options {
        untrusted: Some(true),
        ..Options::default()
    };
    let untrusted = Fixture::with("", options);
    let message = read_fails(&untrusted, "SELECT 'a' REGEXP '\\w{20}'");
    assert!(message.ends_with("more than 65536 bytes"), "{message}");
    assert_eq!(value(&Fixture::new(""), "SELECT 'a' REGEXP '\\w{20}'"), 0.into());
}

// G223
#[test]
fn uuids_can_be_the_default_of_a_column() {
    let fixture = Fixture::new(
        "CREATE TABLE t(id TEXT PRIMARY KEY DEFAULT (uuid()), ordered TEXT DEFAULT (uuid7()), n);
         INSERT INTO t(n) SELECT value FROM generate_series(1, 100)",
    );
    let form = |version| {
        format!("^[0-9a-f]{{8}}-[0-9a-f]{{4}}-{version}[0-9a-f]{{3}}-[89ab][0-9a-f]{{3}}-[0-9a-f]{{12}}$")
    };
    let fits = format!(
        "SELECT count(*) FROM t WHERE id REGEXP '{}' AND ordered REGEXP '{}'",
        form(4),
        form(7)
    );
    assert_eq!(fixture.integers(&fits), [100]);
}

// G223
#[test]
fn uuids_are_converted_between_text_and_blob() {
    let fixture = Fixture::new("");
    let uuid = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    for written in [
        uuid,
        "67E5504410B1426F9247BB680E5FE0C8",
        "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
    ] {
        let sql = format!("SELECT uuid_str(uuid_blob('{written}'))");
        assert_eq!(text(&fixture, &sql), uuid);
    }
    assert_eq!(fixture.integers("SELECT length(uuid_blob(uuid()))"), [16]);
    assert_eq!(value(&fixture, "SELECT uuid_str('no uuid')"), Value::Null);
    assert_eq!(value(&fixture, "SELECT uuid_blob(1)"), Value::Null);
}

// G223
#[test]
fn there_are_medians_percentiles_and_polygons() {
    let fixture = Fixture::new("");
    let numbers = "FROM generate_series(1, 5)";
    assert_eq!(
        value(&fixture, &format!("SELECT median(value) {numbers}")),
        3.0.into()
    );
    assert_eq!(
        value(&fixture, &format!("SELECT percentile(value, 25) {numbers}")),
        2.0.into()
    );
    let square = "SELECT geopoly_area(geopoly_bbox('[[0,0],[2,0],[2,2],[0,0]]'))";
    assert_eq!(value(&fixture, square), 4.0.into());
}

// G225
#[test]
fn updates_and_deletes_can_be_limited() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t SELECT value, 0 FROM generate_series(1, 9)",
    );
    let mut live = fixture.db.stream("SELECT a FROM t WHERE b = 1 ORDER BY a", ());
    assert!(next_integers(&mut live).is_empty());
    assert_eq!(
        fixture
            .run("UPDATE t SET b = 1 ORDER BY a DESC LIMIT 2 OFFSET 1")
            .changes,
        2
    );
    assert_eq!(next_integers(&mut live), [7, 8]);
    assert_eq!(
        fixture
            .run("DELETE FROM t WHERE b = 0 ORDER BY a LIMIT 5")
            .changes,
        5
    );
    assert_eq!(fixture.integers("SELECT a FROM t ORDER BY a"), [6, 7, 8, 9]);
}

// G226
#[test]
fn text_in_double_quotes_is_an_error() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let message = r#"no such column: "b" - should this be a string literal in single-quotes?"#;
    assert_eq!(read_fails(&fixture, r#"SELECT a FROM t WHERE a = "b""#), message);
    assert_eq!(
        fixture.fails(r#"INSERT INTO t VALUES ("b")"#).to_string(),
        message
    );
}

// G232
#[test]
fn a_function_of_the_program_serves_reads_and_writes() {
    let twice = Function::scalar("twice", Some(1), |arguments| match arguments[0] {
        ValueRef::Integer(integer) => Ok((2 * integer).into()),
        _ => Err("it needs an integer".into()),
    });
    let fixture = Fixture::with("CREATE TABLE t(a)", with(twice));
    fixture.run("INSERT INTO t VALUES (twice(3))");
    assert_eq!(fixture.integers("SELECT twice(a) FROM t"), [12]);
    assert_eq!(
        fixture.fails("INSERT INTO t VALUES (twice('x'))").to_string(),
        "twice: it needs an integer"
    );
    assert_eq!(
        read_fails(&fixture, "SELECT twice()"),
        "wrong number of arguments to function twice()"
    );
}

// G232
#[test]
fn arguments_and_results_are_of_every_kind() {
    let same = Function::scalar("same", None, |arguments| Ok((*arguments.last().unwrap()).into()));
    let fixture = Fixture::with("", with(same));
    for literal in ["NULL", "-7", "2.5", "'zwölf'", "''", "x'00ff'", "x''"] {
        let sql =
            format!("SELECT same(1, {literal}) IS {literal} AND typeof(same({literal})) = typeof({literal})");
        assert_eq!(fixture.integers(&sql), [1], "{literal}");
    }
}

// G232
#[test]
fn a_panic_in_a_function_fails_the_statement_alone() {
    let careless = Function::scalar("careless", Some(1), |arguments| match arguments[0] {
        ValueRef::Integer(0) => panic!("nothing left"),
        _ => Ok(1.into()),
    });
    let fixture = Fixture::with("CREATE TABLE t(a)", with(careless));
    let message = "careless panicked: nothing left";
    assert_eq!(read_fails(&fixture, "SELECT careless(0)"), message);
    assert_eq!(
        fixture
            .fails("INSERT INTO t SELECT careless(1 - value) FROM generate_series(0, 1)")
            .to_string(),
        message
    );
    fixture.run("INSERT INTO t VALUES (careless(1))");
    assert_eq!(fixture.integers("SELECT a FROM t"), [1]);
}

/// The longest text of a group.
#[derive(Default)]
struct Longest(Option<String>);

impl Aggregate for Longest {
    fn step(&mut self, arguments: &[ValueRef<'_>]) -> Result<(), String> {
        let ValueRef::Text(text) = arguments[0] else {
            return Err("it needs texts".into());
        };
        assert_ne!(text, b"trap", "sprung");
        if self.0.as_ref().is_none_or(|known| known.len() < text.len()) {
            self.0 = Some(String::from_utf8_lossy(text).into_owned());
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Value, String> {
        Ok(self.0.take().into())
    }
}

// G232
#[test]
fn an_aggregate_has_a_state_for_each_group() {
    let longest = Function::aggregate("longest", Some(1), Longest::default);
    let fixture = Fixture::with("CREATE TABLE t(g, a)", with(longest));
    fixture.run("INSERT INTO t VALUES (1, 'a'), (2, 'bbb'), (1, 'cc'), (2, 'd')");
    let groups = fixture.select("SELECT longest(a) FROM t GROUP BY g ORDER BY g");
    let groups: Vec<_> = groups.iter().map(|row| row.values()[0].clone()).collect();
    assert_eq!(groups, ["cc".into(), "bbb".into()]);
    assert_eq!(
        value(&fixture, "SELECT longest(a) FROM t WHERE g = 3"),
        Value::Null
    );
}

// G232
#[test]
fn an_aggregate_that_fails_or_panics_fails_the_statement() {
    let longest = Function::aggregate("longest", Some(1), Longest::default);
    let fixture = Fixture::with("", with(longest));
    let sql = |middle: &str| format!("SELECT longest(column1) FROM (VALUES ('a'), ({middle}), ('b'))");
    assert_eq!(read_fails(&fixture, &sql("1")), "longest: it needs texts");
    let message = read_fails(&fixture, &sql("'trap'"));
    assert!(
        message.starts_with("longest panicked: ") && message.contains("sprung"),
        "{message}"
    );
    assert_eq!(value(&fixture, &sql("'xx'")), "xx".into());
}

// G232
#[test]
fn only_an_innocuous_function_serves_views_and_indexes() {
    let one = |name| Function::scalar(name, Some(0), |_| Ok(1.into())).deterministic();
    let options = with(one("shy")).register_function(one("tame").innocuous());
    let fixture = Fixture::with(
        "CREATE TABLE t(a); CREATE VIEW v AS SELECT shy(); CREATE INDEX i ON t(a + tame())",
        options,
    );
    assert!(read_fails(&fixture, "SELECT * FROM v").starts_with("unsafe use of shy()"));
    fixture.run("INSERT INTO t VALUES (1)");
}

// G229
#[test]
fn databases_that_share_a_file_agree_on_functions() {
    let one = Function::scalar("one", Some(0), |_| Ok(1.into()));
    let fixture = Fixture::with("", with(one.clone()));
    let path = fixture.path();
    let again = |options| open_with(path.to_str().unwrap(), options);
    assert!(again(Options::default()).is_ok());
    assert!(again(with(one.clone())).is_ok());
    let error: Error = again(with(one.innocuous())).err().unwrap();
    assert!(error.to_string().starts_with("functions: "), "{error}");
}

// G232
#[test]
fn a_function_that_sqlite_cannot_take_is_refused_by_name() {
    let refused = |function| {
        let error = open_with(":memory:", with(function)).err().unwrap();
        assert_eq!(error.code(), "RESQLITE_OPTION");
        error.to_string()
    };
    let nothing = |name: &str, arguments| Function::scalar(name, arguments, |_| Ok(Value::Null));
    assert_eq!(
        refused(nothing("", None)),
        r#"functions: "" is no name of a function"#
    );
    assert_eq!(
        refused(nothing("f", Some(128))),
        "functions: f takes 128 arguments; at most 127 are possible"
    );
}
