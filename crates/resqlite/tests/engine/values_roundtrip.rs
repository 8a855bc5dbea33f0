//! Values: properties of whole results. A failure is printed with what reproduces it.

use std::{collections::BTreeMap, sync::LazyLock};

use proptest::{collection::vec, prelude::*};
use resqlite::{Database, Value};
use serde_json::value::RawValue;

use crate::support::{block_on, open};

static DB: LazyLock<Database> = LazyLock::new(|| open(":memory:").unwrap());

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(Value::Null),
        3 => any::<i64>().prop_map(Value::Integer),
        3 => any::<i32>().prop_map(|value| Value::Integer(value.into())),
        1 => prop::sample::select(vec![i64::MIN, i64::MAX, i32::MIN.into(), i32::MAX.into(), (1 << 53) - 1, 1 << 53, -(1 << 53)])
            .prop_map(Value::Integer),
        3 => any::<f64>().prop_map(Value::Real),
        1 => prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, 5e-324]).prop_map(Value::Real),
        3 => "[a-z \\x00-\\x1f\"\\\\]{0,12}".prop_map(Value::Text),
        1 => "[\\u{80}-\\u{ff}a]{0,12}".prop_map(Value::Text),
        2 => any::<String>().prop_map(Value::Text),
        2 => vec(any::<u8>(), 0..20).prop_map(Value::Blob),
    ]
}

/// One type per column mostly, as tables have it; or anything anywhere.
fn table() -> impl Strategy<Value = Vec<Vec<Value>>> {
    (1usize..8).prop_flat_map(|columns| vec(vec(value(), columns), 0..12))
}

/// What SQLite makes of a value that is bound.
fn stored(value: &Value) -> Value {
    match value {
        Value::Real(real) if real.is_nan() => Value::Null,
        other => other.clone(),
    }
}

/// Equal bit for bit.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(left), Value::Real(right)) => left.to_bits() == right.to_bits(),
        _ => left == right,
    }
}

/// A query that gives exactly these rows, as parameters.
fn query(rows: &[Vec<Value>]) -> (String, Vec<Value>) {
    let columns = rows[0].len();
    let names: Vec<_> = (0..columns).map(|n| format!("c{n}")).collect();
    let row = format!("({})", vec!["?"; columns].join(","));
    let sql = format!(
        "WITH t({}) AS (VALUES {}) SELECT * FROM t",
        names.join(","),
        vec![row; rows.len()].join(",")
    );
    (sql, rows.concat())
}

proptest! {
    #![proptest_config(dice::cases(400))]

    // G24
    #[test]
    fn rows_come_back_as_they_were_bound(rows in table()) {
        prop_assume!(!rows.is_empty());
        let (sql, params) = query(&rows);
        let selected = block_on(DB.select(&sql, params)).unwrap();
        prop_assert_eq!(selected.len(), rows.len());
        for (expected, row) in rows.iter().zip(selected.iter()) {
            for (expected, value) in expected.iter().zip(row.values()) {
                prop_assert!(same(&stored(expected), value), "{:?} came back as {:?}", expected, value);
            }
        }
    }

    // G24
    #[test]
    fn the_rows_of_returning_come_back_as_they_were_bound(row in vec(value(), 1..6)) {
        let columns: Vec<_> = (0..row.len()).map(|n| format!("c{n}")).collect();
        let holes = vec!["?"; row.len()].join(",");
        let done = block_on(async {
            let tx = DB.begin(None).await?;
            tx.exec(&format!("CREATE TABLE t({})", columns.join(","))).await?;
            tx.execute(&format!("INSERT INTO t VALUES ({holes}) RETURNING *"), row.clone()).await
        }).unwrap();
        for (expected, value) in row.iter().zip(done.rows.first().unwrap().values()) {
            prop_assert!(same(&stored(expected), value), "{:?} came back as {:?}", expected, value);
        }
    }

    // G25
    #[test]
    fn json_says_the_same_as_the_rows(rows in table()) {
        prop_assume!(!rows.is_empty());
        let (sql, params) = query(&rows);
        let text = block_on(DB.select_json(&sql, params)).unwrap();
        let parsed: Vec<BTreeMap<String, &RawValue>> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(parsed.len(), rows.len());
        for (expected, object) in rows.iter().zip(parsed) {
            for (column, expected) in expected.iter().enumerate() {
                let json = object[&format!("c{column}")].get();
                prop_assert!(agrees(&stored(expected), json), "{:?} became {}", expected, json);
            }
        }
    }
}

/// Numbers are compared as they are written: a parsed one is rounded, and there is none for infinity.
fn agrees(value: &Value, json: &str) -> bool {
    let text = || serde_json::from_str::<String>(json);
    match value {
        Value::Null => json == "null",
        Value::Integer(integer) => json == integer.to_string(),
        Value::Real(real) if real.is_infinite() => json == if *real > 0.0 { "9e999" } else { "-9e999" },
        Value::Real(real) => json
            .parse::<f64>()
            .is_ok_and(|parsed| parsed.to_bits() == real.to_bits()),
        Value::Text(value) => text().is_ok_and(|text| text == *value),
        Value::Blob(blob) => text().is_ok_and(|text| from_base64(&text) == *blob),
    }
}

/// Written for this test, so that the encoder is checked against something else than its own library.
fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte: u8| DIGITS.iter().position(|&digit| digit == byte).map(|at| at as u32);
    assert_eq!(text.len() % 4, 0, "padded");
    let mut out = Vec::new();
    for chunk in text.as_bytes().chunks(4) {
        let digits: Vec<u32> = chunk.iter().map_while(|&byte| digit(byte)).collect();
        let word = digits.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - digits.len()));
        out.extend(&word.to_be_bytes()[1..digits.len()]);
    }
    out
}

#[test]
fn json_of_no_rows_is_an_empty_array() {
    assert_eq!(block_on(DB.select_json("SELECT 1 WHERE 0", ())).unwrap(), "[]");
}

#[test]
fn json_keeps_awkward_column_names() {
    let text =
        block_on(DB.select_json("SELECT 1 AS \"a \"\"quoted\"\" \\ name\", 2 AS \"größe\n\"", ())).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(parsed[0]["a \"quoted\" \\ name"].to_string(), "1");
    assert_eq!(parsed[0]["größe\n"].to_string(), "2");
}

#[test]
fn json_replaces_invalid_utf8() {
    let text = block_on(DB.select_json("SELECT CAST(x'61ff' AS TEXT) AS t", ())).unwrap();
    assert_eq!(text, "[{\"t\":\"a\u{fffd}\"}]");
}
