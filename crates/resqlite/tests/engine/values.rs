//! Values: how parameters are bound and rows are packed, case by case.

use std::sync::{Arc, mpsc};

use resqlite::{
    Params, Result, Value,
    binding::{ColumnLayout, Format, Integers, Outcome, Query, Reply, RowBatch, Token},
};

use crate::support::{Fixture, block_on, single};

fn echo(value: Value) -> Value {
    let fixture = Fixture::new("");
    single(&block_on(fixture.db.select("SELECT ?", vec![value])).unwrap())
}

// G14
#[test]
fn integers_come_back_exactly() {
    for value in [
        0,
        1,
        -1,
        i64::from(i32::MAX),
        i64::from(i32::MIN),
        (1 << 53) - 1,
        1 << 53,
        (1 << 53) + 1,
        i64::MAX,
        i64::MIN,
        i64::MIN + 1,
    ] {
        assert_eq!(echo(value.into()), Value::Integer(value));
    }
}

// G16
#[test]
fn reals_come_back_bit_for_bit() {
    for value in [
        0.0,
        -0.0,
        1.0,
        0.1,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e15 + 0.3,
    ] {
        match echo(value.into()) {
            Value::Real(back) => assert_eq!(back.to_bits(), value.to_bits()),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn nan_is_null() {
    assert_eq!(echo(f64::NAN.into()), Value::Null);
}

// G18
#[test]
fn text_comes_back_whatever_it_holds() {
    for text in [
        "",
        "a",
        "with\0nul",
        "\0",
        "größer",
        "日本語",
        "🚲🚲",
        "mixed ä 語 🚲",
        "\u{fffd}",
        "\u{feff}bom",
        &"x".repeat(200_000),
    ] {
        assert_eq!(echo(text.into()), Value::Text(text.into()));
    }
}

#[test]
fn blobs_come_back_whatever_they_hold() {
    for blob in [&b""[..], b"\0", b"\xff\0\xfe", &[7; 200_000]] {
        assert_eq!(echo(blob.into()), Value::Blob(blob.into()));
    }
}

#[test]
fn empty_text_and_empty_blob_are_not_null() {
    let fixture = Fixture::new("");
    let rows = block_on(fixture.db.select(
        "SELECT typeof(?), typeof(?)",
        vec!["".into(), Value::Blob(vec![])],
    ))
    .unwrap();
    assert_eq!(rows.first().unwrap().values(), ["text".into(), "blob".into()]);
}

// G18
#[test]
fn invalid_utf8_is_read_with_replacement_characters() {
    let fixture = Fixture::new("");
    let rows = fixture
        .select("SELECT CAST(x'61ff62' AS TEXT), 'next', CAST(x'c3' AS TEXT), CAST(x'eda080' AS TEXT)");
    let texts: Vec<_> = rows.first().unwrap().values().to_vec();
    assert_eq!(
        texts[..3],
        ["a\u{fffd}b".into(), "next".into(), "\u{fffd}".into()]
    );
    assert!(matches!(&texts[3], Value::Text(text) if text.chars().all(|c| c == '\u{fffd}')));
}

#[test]
fn a_column_may_hold_every_type() {
    let fixture = Fixture::new("");
    let rows = fixture.select("VALUES (1), (2.5), ('three'), (x'04'), (NULL), (9223372036854775807), (-0.0)");
    let values: Vec<_> = rows.iter().map(|row| row.values()[0].clone()).collect();
    let expected = [
        1.into(),
        2.5.into(),
        "three".into(),
        Value::Blob(vec![4]),
        Value::Null,
        i64::MAX.into(),
        Value::Real(-0.0),
    ];
    assert_eq!(values, expected);
}

#[test]
fn a_column_of_nulls_is_null_whatever_it_held_before() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    for value in ["1", "1.5", "'x'", "x'00'", "9223372036854775807"] {
        fixture.exec(&format!("DELETE FROM t; INSERT INTO t VALUES ({value})"));
        fixture.select("SELECT a FROM t");
        fixture.exec("UPDATE t SET a = NULL");
        assert_eq!(single(&fixture.select("SELECT a FROM t")), Value::Null);
    }
}

// G34
#[test]
fn many_rows_come_in_several_slices_and_in_order() {
    let fixture = Fixture::new("");
    for rows in [1023, 1024, 1025, 5000] {
        let sql = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i, 'row ' || i AS t FROM n"
        );
        let selected = fixture.select(&sql);
        assert_eq!(selected.len(), rows);
        for (at, row) in (1..).zip(selected.iter()) {
            assert_eq!(
                row.values(),
                [Value::Integer(at), Value::Text(format!("row {at}"))]
            );
        }
    }
}

#[test]
fn slices_are_cut_by_the_size_of_text_and_blobs() {
    let fixture = Fixture::new("");
    for column in [
        "printf('%.*c', 5000, 'a')",
        "printf('%.*c', 5000, 'ü')",
        "printf('%.*c', 5000, '語')",
        "zeroblob(5000)",
    ] {
        let sql = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, {column} AS c FROM n"
        );
        let slices = slices(&fixture, &sql, Integers::Auto).unwrap();
        assert!(
            slices.len() > 5 && slices.iter().sum::<usize>() == 200,
            "{slices:?}"
        );
        assert_eq!(fixture.select(&sql).len(), 200);
    }
}

#[test]
fn two_hundred_columns_are_no_problem() {
    let fixture = Fixture::new("");
    let columns: Vec<_> = (0..200).map(|n| format!("{n} AS c{n}")).collect();
    let rows = fixture.select(&format!(
        "SELECT {} FROM (VALUES (1), (2), (3))",
        columns.join(", ")
    ));
    for row in rows.iter() {
        assert_eq!(row.values(), (0..200i64).map(Value::Integer).collect::<Vec<_>>());
    }
}

#[test]
fn parameters_may_be_named_with_or_without_their_prefix() {
    let fixture = Fixture::new("");
    for name in ["a", ":a"] {
        assert_eq!(
            single(&block_on(fixture.db.select("SELECT :a", Params::named([(name, 5.into())]))).unwrap()),
            Value::Integer(5)
        );
    }
    let rows = block_on(
        fixture
            .db
            .select("SELECT :a, @a, $a", Params::named([("a", 1.into())])),
    )
    .unwrap();
    assert_eq!(
        rows.first().unwrap().values(),
        [Value::Integer(1), Value::Integer(1), Value::Integer(1)]
    );
}

// G22
#[test]
fn a_numbered_parameter_is_bound_once_for_all_its_places() {
    let fixture = Fixture::new("");
    let rows = block_on(fixture.db.select("SELECT ?2, ?1, ?2", vec![1.into(), 2.into()])).unwrap();
    assert_eq!(
        rows.first().unwrap().values(),
        [Value::Integer(2), Value::Integer(1), Value::Integer(2)]
    );
}

// G21
#[test]
fn parameters_that_are_missing_too_many_or_unknown_are_named_and_nothing_runs() {
    let fixture = Fixture::new("CREATE TABLE t(a)");
    let insert = "INSERT INTO t VALUES (?)";
    let failed = [
        (
            block_on(fixture.db.execute(insert, ())),
            "1 parameter, but 0 were given",
        ),
        (
            block_on(fixture.db.execute(insert, vec![1.into(), 2.into()])),
            "1 parameter, but 2 were given",
        ),
        (
            block_on(
                fixture
                    .db
                    .execute("INSERT INTO t VALUES (:a)", Params::named([("b", 1.into())])),
            ),
            "\"b\"",
        ),
        (
            block_on(
                fixture
                    .db
                    .execute("INSERT INTO t VALUES (:a + :b)", Params::named([("a", 1.into())])),
            ),
            ":b",
        ),
        (
            block_on(fixture.db.execute(insert, Params::named([("a", 1.into())]))),
            "\"a\"",
        ),
        (
            block_on(fixture.db.execute(insert, vec![Value::Null; 65_537])),
            "65535 were given",
        ),
    ];
    for (result, reason) in failed {
        let error = result.unwrap_err();
        assert_eq!(error.code(), "RESQLITE_PARAMETER");
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert!(fixture.select("SELECT * FROM t").is_empty());
}

// G21
#[test]
fn parameters_of_one_run_are_not_left_for_the_next() {
    let fixture = Fixture::new("");
    block_on(fixture.db.select("SELECT ?", vec!["first".into()])).unwrap();
    assert!(block_on(fixture.db.select("SELECT ?", ())).is_err());
}

#[test]
fn malformed_packed_parameters_are_refused() {
    let fixture = Fixture::new("");
    for bytes in [
        &b""[..],
        b"\x01",
        b"\x01\0\0\0",
        b"\x01\0\0\0\x05\xff\0\0\0ab",
        b"\x01\0\0\0\x09",
        b"\x01\0\x01\0\x02\0\xff\xff\0",
    ] {
        let params = Params::packed(bytes.into(), 0..bytes.len());
        let error = block_on(fixture.db.select("SELECT ?", params)).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_PARAMETER");
    }
}

/// Counts the rows of the slices it is given.
struct Count(Vec<usize>, mpsc::Sender<Result<Vec<usize>>>);

impl Reply for Count {
    fn rows(&mut self, _: &Arc<ColumnLayout>, slice: &RowBatch<'_>) -> bool {
        self.0.push(slice.rows());
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let Self(mut counted, done) = *self;
        let told = outcome.map(|outcome| {
            if let Outcome::Rows { last, .. } = outcome {
                counted.push(last.rows());
            }
            counted
        });
        done.send(told).unwrap();
    }
}

fn slices(fixture: &Fixture, sql: &str, integers: Integers) -> Result<Vec<usize>> {
    let (done, is_done) = mpsc::channel();
    let query = Query {
        sql: sql.into(),
        params: Params::default(),
        format: Format::Rows,
        integers,
        token: Token::default(),
        limits: None,
    };
    fixture
        .db
        .engine()
        .select(query, Box::new(Count(Vec::new(), done)));
    is_done.recv().unwrap()
}

// G15
#[test]
fn an_unsafe_integer_is_an_error_that_names_its_column_where_only_numbers_are_wanted() {
    let fixture = Fixture::new("");
    for unsafe_value in [1i64 << 53, -(1 << 53), i64::MAX, -i64::MAX] {
        let error = slices(
            &fixture,
            &format!("SELECT 1 AS fine, {unsafe_value} AS big"),
            Integers::Number,
        )
        .unwrap_err();
        assert_eq!(error.code(), "RESQLITE_INTEGER");
        assert!(
            error.to_string().contains("\"big\"") && error.to_string().contains(&unsafe_value.to_string()),
            "{error}"
        );
    }
    let error = slices(
        &fixture,
        "SELECT -9223372036854775807 - 1 AS least",
        Integers::Number,
    )
    .unwrap_err();
    assert_eq!(error.code(), "RESQLITE_INTEGER");
}

#[test]
fn safe_integers_are_fine_where_only_numbers_are_wanted() {
    let fixture = Fixture::new("");
    assert_eq!(
        slices(
            &fixture,
            "SELECT 9007199254740991, -9007199254740991, 0",
            Integers::Number
        ),
        Ok(vec![1])
    );
}

#[test]
fn an_unsafe_integer_is_no_error_in_the_other_modes() {
    let fixture = Fixture::new("");
    for integers in [Integers::Auto, Integers::BigInt] {
        assert_eq!(
            slices(&fixture, "SELECT 9223372036854775807", integers),
            Ok(vec![1])
        );
    }
}
