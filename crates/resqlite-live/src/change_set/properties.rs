//! A change set against a model that keeps every event.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, option, prelude::*, sample};

use super::{Bounds, ChangeSet, Mark};
use crate::{
    column_set::Columns,
    key::{Key, Keys},
    row_change::RowChange,
    summary::{ChangeSummary, Operations, TableChange},
    table_name::TableName,
    testing::cases,
    value::Value,
};

const TABLES: usize = 5;

#[derive(Debug, Clone)]
enum Step {
    Record(usize, RowChange),
    SchemaChanged,
    EverythingChanged,
    Mark,
    /// To any mark ever taken, those of inner and of finished transactions included.
    RollbackTo(sample::Index),
    Clear,
    Finish,
}

fn table(number: usize) -> TableName {
    TableName::new(["main", "temp"][number % 2], format!("t{}", number / 2))
}

/// Few values, among them some that are equal and look different.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..3_i64).prop_map(Value::Integer),
        sample::select(vec![-0.0, 0.0, 0.5, 1.0, 2.0]).prop_map(Value::Real),
        sample::select(vec![&b""[..], b"a", b"\xff\0"]).prop_map(|text| Value::Text(text.into())),
        sample::select(vec![&b""[..], b"a"]).prop_map(|blob| Value::Blob(blob.into())),
    ]
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        3 => (0..6_i64).prop_map(Key::Rowid),
        1 => vec(value(), 1..3).prop_map(|values| Key::Columns(values.into())),
    ]
}

fn known_or_not() -> impl Strategy<Value = Option<Key>> {
    option::weighted(0.95, key())
}

fn columns() -> impl Strategy<Value = Columns> {
    let column = prop_oneof![6 => 0..4_u16, 1 => 126..130_u16];
    prop_oneof![
        15 => vec(column, 0..3).prop_map(|columns| Columns::Only(columns.into_iter().collect())),
        1 => Just(Columns::Any),
    ]
}

fn row_change() -> impl Strategy<Value = RowChange> {
    prop_oneof![
        known_or_not().prop_map(|key| RowChange::Insert { key }),
        known_or_not().prop_map(|key| RowChange::Delete { key }),
        (columns(), known_or_not()).prop_map(|(columns, key)| RowChange::Update {
            columns,
            old: key.clone(),
            new: key
        }),
        (columns(), known_or_not(), known_or_not()).prop_map(|(columns, old, new)| RowChange::Update {
            columns,
            old,
            new
        }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        40 => (0..TABLES, row_change()).prop_map(|(table, change)| Step::Record(table, change)),
        12 => Just(Step::Mark),
        8 => any::<sample::Index>().prop_map(Step::RollbackTo),
        2 => Just(Step::Finish),
        1 => Just(Step::Clear),
        1 => Just(Step::SchemaChanged),
        1 => Just(Step::EverythingChanged),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 0..if cfg!(miri) { 20 } else { 80 })
}

/// Every event of the open transaction, in one vector per mark.
#[derive(Default)]
struct Model(Vec<Vec<Step>>);

impl Model {
    fn record(&mut self, step: &Step) {
        if self.0.is_empty() {
            self.0.push(Vec::new());
        }
        self.0.last_mut().unwrap().push(step.clone());
    }

    fn mark(&mut self) -> usize {
        if self.0.is_empty() {
            self.0.push(Vec::new());
        }
        self.0.push(Vec::new());
        self.0.len() - 1
    }

    /// The vectors stay, empty, so that inner marks keep their meaning: a point in time.
    fn rollback_to(&mut self, mark: usize) {
        self.0[mark..].iter_mut().for_each(Vec::clear);
    }

    fn clear(&mut self) {
        self.rollback_to(0);
    }

    fn summary(&self) -> Expected {
        let mut expected = Expected::default();
        self.0.iter().flatten().for_each(|event| expected.add(event));
        expected
    }
}

/// What a summary has to say.
#[derive(Debug, Default)]
struct Expected {
    tables: BTreeMap<usize, ExpectedTable>,
    schema_changed: bool,
    everything_changed: bool,
}

/// `None` is "any".
#[derive(Debug, PartialEq)]
struct ExpectedTable {
    operations: Operations,
    columns: Option<BTreeSet<u16>>,
    keys: Option<BTreeSet<String>>,
}

impl Expected {
    fn add(&mut self, event: &Step) {
        match event {
            Step::SchemaChanged => self.schema_changed = true,
            Step::EverythingChanged => self.everything_changed = true,
            Step::Record(table, change) if !changes_nothing(change) => {
                let nothing = ExpectedTable {
                    operations: Operations::default(),
                    columns: Some(BTreeSet::new()),
                    keys: Some(BTreeSet::new()),
                };
                self.tables.entry(*table).or_insert(nothing).add(change);
            }
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && !self.schema_changed && !self.everything_changed
    }
}

impl ExpectedTable {
    fn add(&mut self, change: &RowChange) {
        match change {
            RowChange::Insert { key } => {
                self.operations.inserts += 1;
                self.add_key(key);
            }
            RowChange::Delete { key } => {
                self.operations.deletes += 1;
                self.add_key(key);
            }
            RowChange::Update { columns, old, new } => {
                self.operations.updates += 1;
                match columns {
                    Columns::Only(changed) if same_row(old, new) => {
                        self.columns
                            .iter_mut()
                            .for_each(|columns| columns.extend(changed.iter()));
                    }
                    _ => self.columns = None,
                }
                self.add_key(old);
                self.add_key(new);
            }
        }
    }

    fn add_key(&mut self, key: &Option<Key>) {
        match key {
            Some(key) => self.keys.iter_mut().for_each(|keys| keys.extend([spelt(key)])),
            None => self.keys = None,
        }
    }
}

fn changes_nothing(change: &RowChange) -> bool {
    matches!(change, RowChange::Update { columns: Columns::Only(columns), old, new }
        if columns.iter().next().is_none() && same_row(old, new))
}

fn same_row(old: &Option<Key>, new: &Option<Key>) -> bool {
    matches!((old, new), (Some(old), Some(new)) if spelt(old) == spelt(new))
}

/// One spelling for all keys that name the same row.
fn spelt(key: &Key) -> String {
    match key {
        Key::Rowid(rowid) => format!("rowid {rowid}"),
        Key::Columns(values) => values.iter().map(|value| spelt_value(value) + ", ").collect(),
    }
}

fn spelt_value(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Integer(integer) => format!("{:.3}", *integer as f64),
        Value::Real(real) => format!("{:.3}", real + 0.0),
        Value::Text(bytes) => format!("text {bytes:?}"),
        Value::Blob(bytes) => format!("blob {bytes:?}"),
    }
}

/// The change in the words of the model; fails if a key is named twice.
fn told(change: &TableChange) -> ExpectedTable {
    let columns = match &change.columns {
        Columns::Only(columns) => Some(columns.iter().collect()),
        Columns::Any => None,
    };
    let keys = match &change.keys {
        Keys::Only(keys) => {
            let spelt: BTreeSet<String> = keys.iter().map(spelt).collect();
            assert_eq!(spelt.len(), keys.len(), "a key is named twice: {keys:?}");
            Some(spelt)
        }
        Keys::Any => None,
    };
    ExpectedTable {
        operations: change.operations,
        columns,
        keys,
    }
}

fn assert_equals(summary: &ChangeSummary, expected: &Expected) {
    assert_eq!(summary.schema_changed(), expected.schema_changed);
    assert_eq!(summary.everything_changed(), expected.everything_changed);
    assert_eq!(summary.is_empty(), expected.is_empty());
    if expected.everything_changed {
        return;
    }
    assert_eq!(summary.tables().len(), expected.tables.len());
    let listed: BTreeMap<_, _> = summary.tables().collect();
    for (number, change) in &expected.tables {
        assert_eq!(told(listed[&table(*number)]), *change);
    }
    if !expected.schema_changed {
        for number in 0..TABLES {
            assert_eq!(
                summary.table(&table(number)).map(told).as_ref(),
                expected.tables.get(&number)
            );
        }
    }
}

/// Nothing that the model knows is missing.
fn assert_covers(summary: &ChangeSummary, expected: &Expected) {
    assert!(summary.schema_changed() || !expected.schema_changed);
    assert!(summary.everything_changed() || !expected.everything_changed);
    for (number, change) in &expected.tables {
        let told = told(summary.table(&table(*number)).expect("the table is touched"));
        assert!(told.operations.inserts >= change.operations.inserts);
        assert!(told.operations.updates >= change.operations.updates);
        assert!(told.operations.deletes >= change.operations.deletes);
        assert!(
            includes(&told.columns, &change.columns),
            "{told:?} misses a column of {change:?}"
        );
        assert!(
            includes(&told.keys, &change.keys),
            "{told:?} misses a key of {change:?}"
        );
    }
}

fn includes<T: Ord>(told: &Option<BTreeSet<T>>, expected: &Option<BTreeSet<T>>) -> bool {
    match (told, expected) {
        (None, _) => true,
        (Some(told), Some(expected)) => told.is_superset(expected),
        (Some(_), None) => false,
    }
}

fn assert_within_bounds(changes: &ChangeSet) {
    let bounds = changes.bounds;
    assert!(changes.tables.len() <= bounds.tables);
    assert!(
        changes
            .tables
            .iter()
            .all(|touched| touched.keys.len() <= bounds.keys_per_table)
    );
    assert!(changes.key_bytes <= bounds.key_bytes);
    assert!(changes.saved.len() <= bounds.saved.max(bounds.tables));
}

fn assert_books_balance(changes: &ChangeSet) {
    let keys = || changes.tables.iter().flat_map(|touched| &touched.keys);
    assert_eq!(keys().count(), changes.keys.len());
    assert_eq!(keys().map(Key::weight).sum::<usize>(), changes.key_bytes);
    assert_eq!(changes.positions.len(), changes.tables.len());
    for (position, touched) in changes.tables.iter().enumerate() {
        assert_eq!(changes.positions[&touched.name], position);
        assert_eq!(touched.keys.len(), touched.extent.keys);
        assert!(
            touched
                .keys
                .iter()
                .all(|key| changes.keys.contains(&(position, key.clone())))
        );
    }
}

/// Takes every step on both sides and holds the summaries against the model's.
fn run(steps: &[Step], bounds: Bounds, check: fn(&ChangeSummary, &Expected)) {
    let mut changes = ChangeSet::with_bounds(bounds);
    let mut model = Model::default();
    let mut marks: Vec<(Mark, usize)> = Vec::new();
    for step in steps.iter().chain([&Step::Finish]) {
        match step {
            Step::Record(number, change) => changes.record(&table(*number), change.clone()),
            Step::SchemaChanged => changes.record_schema_changed(),
            Step::EverythingChanged => changes.record_everything_changed(),
            Step::Mark => marks.push((changes.mark(), model.mark())),
            Step::RollbackTo(index) if !marks.is_empty() => {
                let (mark, in_model) = *index.get(&marks);
                changes.rollback_to(mark);
                model.rollback_to(in_model);
            }
            Step::RollbackTo(_) => {}
            Step::Clear => {
                changes.clear();
                model.clear();
            }
            Step::Finish => {
                check(&changes.finish(), &model.summary());
                model.clear();
                assert!(changes.is_empty());
            }
        }
        model.record(step);
        assert!(!changes.is_empty() || model.summary().is_empty());
        assert_within_bounds(&changes);
        assert_books_balance(&changes);
    }
}

fn bounds() -> impl Strategy<Value = Bounds> {
    (0..4_usize, 0..400_usize, 0..TABLES, 0..4_usize).prop_map(
        |(keys_per_table, key_bytes, tables, saved)| Bounds {
            keys_per_table,
            key_bytes,
            tables,
            saved,
        },
    )
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn under_its_bounds_a_change_set_says_exactly_what_happened(steps in steps()) {
        run(&steps, Bounds::default(), assert_equals);
    }

    #[test]
    fn beyond_its_bounds_a_change_set_misses_nothing(steps in steps(), bounds in bounds()) {
        run(&steps, bounds, assert_covers);
    }
}
