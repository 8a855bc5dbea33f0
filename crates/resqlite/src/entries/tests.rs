use std::sync::Arc;

use proptest::{collection::vec, prelude::*};
use resqlite_sqlite::ValueRef;
use sha2::{Digest, Sha256};

use super::*;
use crate::core::{error::EntryFault, error::Error, position::Position, value::Value};

/// An operation with what it is made of.
#[derive(Debug, Clone)]
enum Made {
    Insert(usize, i64, Vec<Value>),
    Update(usize, i64, i64, Vec<(Value, Value)>),
    Delete(usize, i64, Vec<Value>),
    Clear(usize),
    Sql(String),
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        prop_oneof![any::<i64>(), -3..3_i64].prop_map(Value::Integer),
        any::<f64>()
            .prop_filter("SQLite stores no NaN", |real| !real.is_nan())
            .prop_map(Value::Real),
        Just(Value::Real(-0.0)),
        ".{0,9}".prop_map(Value::Text),
        vec(any::<u8>(), 0..200).prop_map(Value::Blob),
    ]
}

fn table() -> impl Strategy<Value = EntryTable> {
    let column = (".{0,5}", any::<bool>()).prop_map(|(name, generated)| EntryColumn { name, generated });
    let place = any::<prop::sample::Index>();
    let more = (any::<bool>(), vec(place, 0..3));
    (".{0,9}", vec(column, 1..5), any::<Option<(usize, usize)>>(), more).prop_map(
        |(name, columns, key, more)| {
            let key = key.map_or(EntryKey::Rowid("rowid".into()), |(a, b)| {
                EntryKey::Columns(vec![a % columns.len(), b % columns.len()])
            });
            let (is_internal, places) = more;
            let primary_key = places.iter().map(|place| place.index(columns.len())).collect();
            EntryTable {
                name,
                columns,
                key,
                primary_key,
                is_internal,
            }
        },
    )
}

fn operation(tables: &[EntryTable]) -> impl Strategy<Value = Made> + use<> {
    let counts: Vec<_> = tables.iter().map(|table| table.columns.len()).collect();
    let pair = prop_oneof![
        value().prop_map(|value| (value.clone(), value)),
        (value(), value())
    ];
    let row = (0..tables.len()).prop_flat_map(move |table| (Just(table), vec(pair.clone(), counts[table])));
    (row, any::<(i64, i64)>(), 0..5, ".{0,30}").prop_map(|((table, pairs), (a, b), kind, sql)| {
        let first = pairs.iter().map(|(old, _)| old.clone()).collect();
        match kind {
            0 => Made::Insert(table, a, first),
            1 => Made::Update(table, a, b, pairs),
            2 => Made::Delete(table, a, first),
            3 => Made::Clear(table),
            _ => Made::Sql(sql),
        }
    })
}

fn content() -> impl Strategy<Value = (Vec<EntryTable>, Vec<Made>)> {
    vec(table(), 1..4).prop_flat_map(|tables| {
        let operations = vec(operation(&tables), 0..12);
        (Just(tables), operations)
    })
}

/// Adds an operation to a draft in which the tables have their own numbers.
fn add(draft: &mut Draft, tables: &[EntryTable], made: &Made) {
    let with_rowids = |table: usize| matches!(tables[table].key, EntryKey::Rowid(_));
    match made {
        Made::Insert(table, rowid, values) => {
            let rowid = with_rowids(*table).then_some(*rowid);
            draft.insert(*table, rowid, values.iter().map(ValueRef::from));
        }
        Made::Update(table, old, new, pairs) => {
            let rowids = with_rowids(*table).then_some((*old, *new));
            let images = pairs
                .iter()
                .map(|(old, new)| (ValueRef::from(old), ValueRef::from(new)));
            draft.update(*table, rowids, images);
        }
        Made::Delete(table, rowid, values) => {
            let rowid = with_rowids(*table).then_some(*rowid);
            draft.delete(*table, rowid, values.iter().map(ValueRef::from));
        }
        Made::Clear(table) => draft.clear_table(*table),
        Made::Sql(sql) => draft.sql(sql),
    }
}

fn draft(tables: &[EntryTable], operations: &[Made]) -> Draft {
    let mut draft = Draft::default();
    tables
        .iter()
        .for_each(|table| assert!(draft.table(table) < tables.len()));
    operations.iter().for_each(|made| add(&mut draft, tables, made));
    draft
}

/// The entry that was read, in the types from which it was written. Values are compared by their bits.
fn described(tables: &[EntryTable], operation: &Operation<'_>) -> String {
    let place = |table: &Arc<EntryTable>| tables.iter().position(|other| other == &**table).unwrap();
    let bits = |image: &Image<'_>| {
        image
            .values()
            .iter()
            .map(|value| bits(*value))
            .collect::<Vec<_>>()
    };
    match operation {
        Operation::Insert { table, rowid, new } => format!("insert {} {rowid} {:?}", place(table), bits(new)),
        Operation::Update {
            table,
            old_rowid,
            new_rowid,
            old,
            new,
        } => {
            format!(
                "update {} {old_rowid} {new_rowid} {:?} {:?}",
                place(table),
                bits(old),
                bits(new)
            )
        }
        Operation::Delete { table, rowid, old } => format!("delete {} {rowid} {:?}", place(table), bits(old)),
        Operation::Clear { table } => format!("clear {}", place(table)),
        Operation::Sql(sql) => format!("sql {sql}"),
    }
}

fn bits(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Real(real) => format!("Real {}", real.to_bits()),
        other => format!("{other:?}"),
    }
}

fn expected(tables: &[EntryTable], made: &Made) -> String {
    let place = |table: usize| tables.iter().position(|other| other == &tables[table]).unwrap();
    let rowid = |table: usize, rowid: i64| match tables[table].key {
        EntryKey::Rowid(_) => rowid,
        EntryKey::Columns(_) => 0,
    };
    let all = |values: &[Value]| values.iter().map(|value| bits(value.into())).collect::<Vec<_>>();
    match made {
        Made::Insert(table, id, values) => {
            format!(
                "insert {} {} {:?}",
                place(*table),
                rowid(*table, *id),
                all(values)
            )
        }
        Made::Update(table, old, new, pairs) => {
            let (before, after): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
            let (old, new) = (rowid(*table, *old), rowid(*table, *new));
            format!(
                "update {} {old} {new} {:?} {:?}",
                place(*table),
                all(&before),
                all(&after)
            )
        }
        Made::Delete(table, id, values) => {
            format!(
                "delete {} {} {:?}",
                place(*table),
                rowid(*table, *id),
                all(values)
            )
        }
        Made::Clear(table) => format!("clear {}", place(*table)),
        Made::Sql(sql) => format!("sql {sql}"),
    }
}

fn is_malformed(bytes: &[u8]) -> bool {
    let read = Entry::from_bytes(bytes);
    matches!(
        read,
        Err(Error::Entry {
            fault: EntryFault::Malformed,
            ..
        })
    )
}

proptest! {
    #![proptest_config(dice::cases(256))]

    #[test]
    fn an_entry_reads_as_what_it_was_made_of((tables, operations) in content(), position: u64, previous: [u8; 32]) {
        let made = draft(&tables, &operations).entry(Position(position), Hash(previous));
        let entry = Entry::from_bytes(made.as_bytes()).unwrap();
        prop_assert_eq!(&entry, &made);
        prop_assert_eq!((entry.position(), entry.previous()), (Position(position), Hash(previous)));
        let read: Vec<_> = entry.operations().map(|operation| described(&tables, &operation)).collect();
        let expected: Vec<_> = operations.iter().map(|made| expected(&tables, made)).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn what_comes_after_a_mark_can_be_undone((tables, operations) in content(), at: prop::sample::Index) {
        let keep = at.index(operations.len() + 1);
        let mut undone = draft(&tables, &operations[..keep]);
        let mark = undone.mark();
        operations[keep..].iter().for_each(|made| add(&mut undone, &tables, made));
        undone.table(&tables[0]);
        undone.roll_back_to(mark);
        let same = draft(&tables, &operations[..keep]);
        prop_assert_eq!(undone.entry(Position(1), Hash::default()), same.entry(Position(1), Hash::default()));
        prop_assert_eq!(undone.table(&tables[0]), tables.len());
    }

    // G304
    #[test]
    fn a_damaged_entry_is_refused((tables, operations) in content(), at: prop::sample::Index, bit in 0..8_u8) {
        let entry = draft(&tables, &operations).entry(Position(7), Hash::default());
        let mut bytes = entry.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(is_malformed(&bytes));
        prop_assert!(is_malformed(&entry.as_bytes()[..at]));
    }

    // G304
    #[test]
    fn operations_of_any_bytes_cause_no_panic((tables, operations) in content(), changes in vec(any::<(prop::sample::Index, u8)>(), 1..4)) {
        let entry = draft(&tables, &operations).entry(Position(7), Hash::default());
        let mut bytes = entry.as_bytes().to_vec();
        bytes.truncate(bytes.len() - 32);
        for (at, byte) in changes {
            let at = 44 + at.index(bytes.len() - 44);
            bytes[at] = byte;
        }
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        if let Ok(entry) = Entry::from_bytes(&bytes) {
            let shown = format!("{entry:?}");
            prop_assert!(!shown.is_empty());
        }
    }
}

// G304
#[test]
fn a_later_format_is_refused_by_its_number() {
    let mut bytes = Draft::default()
        .entry(Position(1), Hash::default())
        .as_bytes()
        .to_vec();
    bytes[3] = 9;
    let error = Entry::from_bytes(&bytes).unwrap_err();
    assert!(error.to_string().contains("format 9"), "{error}");
    assert_eq!(error.code(), "RESQLITE_ENTRY_MALFORMED");
}
