//! A change set against a model that keeps every event.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use dice::cases;
use proptest::{collection::vec, option, prelude::*, sample};

use super::{Bounds, ChangeSet, Mark};
use crate::{
    column_set::Columns,
    image::{Image, Watched},
    row_change::RowChange,
    summary::{ChangeSummary, Operations, Rows, TableChange},
    table_name::TableName,
    value::Value,
};

const TABLES: usize = 5;

#[derive(Debug, Clone)]
enum Step {
    Record(usize, Arc<Watched>, RowChange),
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

/// One table of which nothing is decoded, one without images, and others.
fn usual(table: usize) -> Watched {
    Watched {
        compared: if table == 0 {
            [].into_iter().collect()
        } else {
            (0..4).collect()
        },
        images: (0..4).take(table.saturating_sub(1)).collect(),
        names: None,
    }
}

/// Mostly one request per table; never the same object twice.
fn watched(table: usize) -> impl Strategy<Value = Arc<Watched>> {
    let unusual = usual((table + 2) % TABLES);
    prop_oneof![60 => Just(usual(table)), 1 => Just(unusual)].prop_map(Arc::new)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        (0..3_i64).prop_map(Value::Integer),
        sample::select(vec![-0.5, 0.5, 1.5]).prop_map(Value::Real),
        sample::select(vec![&b""[..], b"a", b"\xff\0"]).prop_map(|text| Value::Text(text.into())),
        sample::select(vec![&b""[..], b"a"]).prop_map(|blob| Value::Blob(blob.into())),
    ]
}

/// The values of an image, if there is one; rarely unknown.
fn image(length: usize) -> BoxedStrategy<Option<Image>> {
    if length == 0 {
        return Just(None).boxed();
    }
    option::weighted(0.98, vec(value(), length).prop_map(Vec::into_boxed_slice)).boxed()
}

fn columns() -> impl Strategy<Value = Columns> {
    let column = prop_oneof![6 => 0..4_u16, 1 => 126..130_u16];
    prop_oneof![
        15 => vec(column, 0..3).prop_map(|columns| Columns::Only(columns.into_iter().collect())),
        1 => Just(Columns::Any),
    ]
}

fn row_change(length: usize) -> impl Strategy<Value = RowChange> {
    prop_oneof![
        image(length).prop_map(|new| RowChange::Insert { new }),
        image(length).prop_map(|old| RowChange::Delete { old }),
        (columns(), image(length), image(length)).prop_map(|(columns, old, new)| RowChange::Update {
            columns,
            old,
            new
        }),
    ]
}

fn record() -> impl Strategy<Value = Step> {
    (0..TABLES)
        .prop_flat_map(|table| (Just(table), watched(table)))
        .prop_flat_map(|(table, watched)| {
            let change = row_change(watched.images.len());
            change.prop_map(move |change| Step::Record(table, Arc::clone(&watched), change))
        })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        40 => record(),
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

/// The changes that a summary has to report.
#[derive(Debug, Default)]
struct Expected {
    tables: BTreeMap<usize, ExpectedTable>,
    schema_changed: bool,
    everything_changed: bool,
}

/// `None` is "any".
#[derive(Debug, PartialEq)]
struct ExpectedTable {
    watched: Watched,
    operations: Operations,
    columns: Option<BTreeSet<u16>>,
    rows: Option<Vec<RowChange>>,
}

impl Expected {
    fn add(&mut self, event: &Step) {
        match event {
            Step::SchemaChanged => self.schema_changed = true,
            Step::EverythingChanged => self.everything_changed = true,
            Step::Record(table, watched, change) => self
                .tables
                .entry(*table)
                .or_insert_with(|| ExpectedTable::new(watched))
                .add(watched, change),
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && !self.schema_changed && !self.everything_changed
    }
}

impl ExpectedTable {
    fn new(watched: &Watched) -> Self {
        Self {
            watched: watched.clone(),
            operations: Operations::default(),
            columns: Some(BTreeSet::new()),
            rows: Some(Vec::new()),
        }
    }

    fn add(&mut self, watched: &Watched, change: &RowChange) {
        match change {
            RowChange::Insert { .. } => self.operations.inserts += 1,
            RowChange::Update { .. } => self.operations.updates += 1,
            RowChange::Delete { .. } => self.operations.deletes += 1,
        }
        if *watched != self.watched {
            (self.columns, self.rows) = (None, None);
            return;
        }
        if let RowChange::Update { columns, .. } = change {
            self.columns = self
                .columns
                .take()
                .zip(known(columns))
                .map(|(all, more)| &all | &more);
        }
        let row = row(change).filter(|_| !watched.images.is_empty());
        self.rows = self.rows.take().zip(row).map(|(mut rows, row)| {
            rows.push(row);
            rows
        });
    }
}

fn known(columns: &Columns) -> Option<BTreeSet<u16>> {
    match columns {
        Columns::Only(columns) => Some(columns.iter().collect()),
        Columns::Any => None,
    }
}

/// The row, if its images are known.
fn row(change: &RowChange) -> Option<RowChange> {
    let is_known = match change {
        RowChange::Insert { new: image } | RowChange::Delete { old: image } => image.is_some(),
        RowChange::Update { old, new, .. } => old.is_some() && new.is_some(),
    };
    is_known.then(|| change.clone())
}

/// The change in the words of the model.
fn reported(change: &TableChange) -> ExpectedTable {
    let rows = match &change.rows {
        Rows::Only(rows) => Some(rows.to_vec()),
        Rows::Any => None,
    };
    ExpectedTable {
        watched: (*change.watched).clone(),
        operations: change.operations,
        columns: known(&change.columns),
        rows,
    }
}

fn assert_equals(summary: &ChangeSummary, expected: &Expected) {
    assert!(summary.is_exact());
    assert_eq!(summary.schema_changed(), expected.schema_changed);
    assert_eq!(summary.everything_changed(), expected.everything_changed);
    assert_eq!(summary.is_empty(), expected.is_empty());
    if expected.everything_changed {
        return;
    }
    assert_eq!(summary.tables().len(), expected.tables.len());
    let listed: BTreeMap<_, _> = summary.tables().collect();
    for (number, change) in &expected.tables {
        assert_eq!(reported(listed[&table(*number)]), *change);
    }
    if !expected.schema_changed {
        for number in 0..TABLES {
            assert_eq!(
                summary.table(&table(number)).map(reported).as_ref(),
                expected.tables.get(&number)
            );
        }
    }
}

/// A summary that says that it is exact is so.
fn assert_honest(summary: &ChangeSummary, expected: &Expected) {
    if summary.is_exact() {
        assert_equals(summary, expected);
    }
}

/// Nothing that the model knows is missing.
fn assert_covers(summary: &ChangeSummary, expected: &Expected) {
    assert!(summary.schema_changed() || !expected.schema_changed);
    assert!(summary.everything_changed() || !expected.everything_changed);
    for (number, change) in &expected.tables {
        let reported = reported(summary.table(&table(*number)).expect("the table is touched"));
        assert!(reported.operations.inserts >= change.operations.inserts);
        assert!(reported.operations.updates >= change.operations.updates);
        assert!(reported.operations.deletes >= change.operations.deletes);
        let of_any = reported.columns.is_none() && reported.rows.is_none();
        assert!(
            of_any || reported.watched == change.watched,
            "{reported:?} is decoded differently from {change:?}"
        );
        assert!(
            covers(&reported.columns, &change.columns, |reported, wanted| reported
                .is_superset(wanted)),
            "{reported:?} misses a column of {change:?}"
        );
        assert!(
            covers(&reported.rows, &change.rows, |reported, wanted| is_within(
                wanted, reported
            )),
            "{reported:?} misses a row of {change:?}"
        );
    }
}

/// Returns whether the reported value is any, or includes the wanted one.
fn covers<T>(reported: &Option<T>, wanted: &Option<T>, includes: fn(&T, &T) -> bool) -> bool {
    match (reported, wanted) {
        (None, _) => true,
        (Some(reported), Some(wanted)) => includes(reported, wanted),
        (Some(_), None) => false,
    }
}

/// Returns whether the rows are all there, in their order.
fn is_within(rows: &[RowChange], all: &[RowChange]) -> bool {
    let mut rest = all.iter();
    rows.iter().all(|row| rest.any(|other| other == row))
}

fn assert_within_bounds(changes: &ChangeSet) {
    let bounds = changes.bounds;
    assert!(changes.tables.len() <= bounds.tables);
    assert!(
        changes
            .tables
            .iter()
            .all(|touched| touched.rows.len() <= bounds.rows_per_table)
    );
    assert!(changes.row_bytes <= bounds.row_bytes);
    assert!(changes.saved.len() <= bounds.saved.max(bounds.tables));
}

fn assert_books_balance(changes: &ChangeSet) {
    let rows = changes.tables.iter().flat_map(|touched| &touched.rows);
    assert_eq!(rows.map(RowChange::weight).sum::<usize>(), changes.row_bytes);
    assert_eq!(changes.positions.len(), changes.tables.len());
    for (position, touched) in changes.tables.iter().enumerate() {
        assert_eq!(changes.positions[&touched.name], position);
        assert_eq!(touched.rows.len(), touched.extent.rows);
    }
}

/// Takes every step on both sides and holds the summaries against the model's.
fn run(steps: &[Step], bounds: Bounds, check: fn(&ChangeSummary, &Expected)) {
    let mut changes = ChangeSet::with_bounds(bounds);
    let mut model = Model::default();
    let mut marks: Vec<(Mark, usize)> = Vec::new();
    for step in steps.iter().chain([&Step::Finish]) {
        match step {
            Step::Record(number, watched, change) => changes.record(&table(*number), watched, change.clone()),
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
    (0..4_usize, 0..1_000_usize, 0..TABLES, 0..4_usize).prop_map(
        |(rows_per_table, row_bytes, tables, saved)| Bounds {
            rows_per_table,
            row_bytes,
            tables,
            saved,
        },
    )
}

proptest! {
    #![proptest_config(cases(4_000))]

    // G98
    #[test]
    fn within_its_bounds_a_change_set_is_exact(steps in steps()) {
        run(&steps, Bounds::default(), assert_equals);
    }

    // G257
    #[test]
    fn with_few_saved_states_a_change_set_is_exact_or_says_that_it_is_not(steps in steps(), saved in 0..4_usize) {
        run(&steps, Bounds { saved, ..Bounds::default() }, assert_honest);
    }

    // G99
    #[test]
    fn beyond_its_bounds_a_change_set_misses_nothing(steps in steps(), bounds in bounds()) {
        run(&steps, bounds, assert_covers);
    }
}
