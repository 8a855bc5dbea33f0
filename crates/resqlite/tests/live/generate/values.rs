//! Values that collide often, because the domains are small, and that lie where mistakes are made.

use dice::Rng;
use resqlite::Value;

use super::model::Kind;

const TEXTS: [&str; 18] = [
    "", "a", "A", "a ", "b", "B", "ab", "abc", "b ", "1", "1.0", "01", "2", "é", "É", "漢字", "😀", "a\0b",
];
const REALS: [f64; 12] = [
    0.0,
    -0.0,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    -1.5,
    1e18,
    9.007_199_254_740_993e15,
    9_223_372_036_854_775_807.0,
    f64::INFINITY,
];
const EDGES: [i64; 10] = [
    i64::MIN,
    i64::MIN + 1,
    i64::MAX,
    i64::MAX - 1,
    i32::MIN as i64,
    i32::MAX as i64,
    1 << 31,
    1 << 53,
    (1 << 53) + 1,
    -(1 << 53) - 1,
];
/// Behind the greatest rowid of all, SQLite tries random ones.
const KEY_MAX: i64 = i64::MAX - 1000;
const BLOBS: [&[u8]; 6] = [b"", b"a", b"1", b"\0", b"\0\xff", b"abc"];
pub const WORDS: [&str; 8] = ["red", "green", "blue", "fish", "bird", "one", "two", "three"];

/// A value that CHECK constraints and triggers refuse; nothing else draws it.
pub fn poison(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer | Kind::Any => "99",
        Kind::Real => "99.0",
        Kind::Text => "'bad'",
        Kind::Blob => "x'bad0'",
    }
}

/// A value that a column of this kind takes without conversion, or NULL.
pub fn fitting(rng: &mut Rng, kind: Kind) -> Value {
    if rng.chance(8) {
        Value::Null
    } else {
        of_kind(rng, kind)
    }
}

/// A value for a column of this kind: mostly one that fits, sometimes of another storage class.
pub fn any_class(rng: &mut Rng, kind: Kind) -> Value {
    let kind = if rng.chance(85) { kind } else { Kind::Any };
    fitting(rng, kind)
}

pub fn of_kind(rng: &mut Rng, kind: Kind) -> Value {
    match kind {
        Kind::Integer => Value::Integer(integer(rng)),
        Kind::Real => Value::Real(*rng.pick_early(&REALS)),
        Kind::Text if rng.chance(12) => Value::Text(sentence(rng)),
        Kind::Text => Value::Text((*rng.pick_early(&TEXTS)).into()),
        Kind::Blob => Value::Blob(rng.pick_early(&BLOBS).to_vec()),
        Kind::Any => {
            let kind = rng.weighted(&[
                (4, Kind::Integer),
                (2, Kind::Real),
                (4, Kind::Text),
                (2, Kind::Blob),
            ]);
            of_kind(rng, kind)
        }
    }
}

fn integer(rng: &mut Rng) -> i64 {
    match rng.below(40) {
        0 => *rng.pick(&EDGES),
        1..=3 => -(rng.below(4) as i64),
        _ => {
            let most = rng.between(1, 10);
            rng.below(most) as i64
        }
    }
}

/// A value for a column that is unique: from a larger domain, so that most inserts succeed and updates still meet.
pub fn unique(rng: &mut Rng, kind: Kind) -> Value {
    let number = rng.below(30) as i64;
    match kind {
        Kind::Integer | Kind::Any if rng.chance(3) => {
            let edge = *rng.pick(&EDGES);
            Value::Integer(edge.min(KEY_MAX))
        }
        Kind::Integer => Value::Integer(number),
        Kind::Real => Value::Real(number as f64 / 2.0),
        Kind::Text => Value::Text(format!("k{number}")),
        Kind::Blob => Value::Blob(vec![number as u8, 0]),
        Kind::Any => {
            let kind = *rng.pick(&[Kind::Integer, Kind::Real, Kind::Text, Kind::Blob]);
            unique(rng, kind)
        }
    }
}

pub fn sentence(rng: &mut Rng) -> String {
    let count = rng.between(1, 4);
    let words: Vec<&str> = (0..count).map(|_| *rng.pick(&WORDS)).collect();
    words.join(" ")
}
