use super::{Bounds, ChangeSet};
use crate::{
    column_set::Columns,
    key::{Key, Keys},
    row_change::RowChange,
    summary::TableChange,
    table_name::TableName,
    value::Value,
};

fn name(table: &str) -> TableName {
    TableName::new("main", table)
}

fn rowid(rowid: i64) -> Option<Key> {
    Some(Key::Rowid(rowid))
}

fn insert(row: i64) -> RowChange {
    RowChange::Insert { key: rowid(row) }
}

fn delete(row: i64) -> RowChange {
    RowChange::Delete { key: rowid(row) }
}

fn columns(columns: &[u16]) -> Columns {
    Columns::Only(columns.iter().copied().collect())
}

/// An UPDATE of these columns that leaves the key of the row.
fn update(row: i64, changed: &[u16]) -> RowChange {
    RowChange::Update {
        columns: columns(changed),
        old: rowid(row),
        new: rowid(row),
    }
}

fn rows(rows: &[i64]) -> Keys {
    Keys::Only(rows.iter().copied().map(Key::Rowid).collect())
}

fn small(change: impl FnOnce(&mut Bounds)) -> ChangeSet {
    let mut bounds = Bounds::default();
    change(&mut bounds);
    ChangeSet::with_bounds(bounds)
}

/// What a commit would say of the table `t`.
fn finish(changes: &mut ChangeSet) -> TableChange {
    changes.finish().table(&name("t")).expect("t changed").clone()
}

#[test]
fn a_new_set_is_empty() {
    assert!(ChangeSet::new().is_empty());
    assert!(ChangeSet::new().finish().is_empty());
}

#[test]
fn finishing_leaves_an_empty_set_that_can_be_used_again() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), insert(1));
    changes.record_schema_changed();
    changes.finish();
    assert!(changes.is_empty());

    changes.record(&name("t"), insert(1));
    let summary = changes.finish();
    assert!(!summary.schema_changed());
    assert_eq!(summary.table(&name("t")).unwrap().keys, rows(&[1]));
}

#[test]
fn clearing_discards_everything() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), insert(1));
    changes.record_schema_changed();
    changes.record_everything_changed();
    changes.clear();
    assert!(changes.is_empty());
    assert!(changes.finish().is_empty());
}

#[test]
fn a_row_changed_twice_is_named_once() {
    let mut changes = ChangeSet::new();
    for change in [insert(1), update(1, &[0]), insert(2), delete(1)] {
        changes.record(&name("t"), change);
    }
    assert_eq!(finish(&mut changes).keys, rows(&[1, 2]));
}

#[test]
fn the_same_key_in_two_tables_is_two_rows() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), insert(1));
    changes.record(&name("u"), insert(1));
    changes.record(&name("t"), insert(1));
    let summary = changes.finish();
    assert_eq!(summary.table(&name("t")).unwrap().keys, rows(&[1]));
    assert_eq!(summary.table(&name("u")).unwrap().keys, rows(&[1]));
}

#[test]
fn updates_collect_their_columns() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), update(1, &[0, 3]));
    changes.record(&name("t"), update(2, &[3, 200]));
    assert_eq!(finish(&mut changes).columns, columns(&[0, 3, 200]));
}

#[test]
fn inserts_and_deletes_add_no_columns() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), insert(1));
    changes.record(&name("t"), delete(2));
    assert_eq!(finish(&mut changes).columns, columns(&[]));
}

#[test]
fn an_update_that_changed_nothing_adds_nothing() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), update(1, &[]));
    assert!(changes.is_empty());
}

#[test]
fn an_update_of_no_column_counts_when_its_key_is_unknown() {
    for (old, new) in [(None, None), (rowid(1), None), (None, rowid(1))] {
        let mut changes = ChangeSet::new();
        changes.record(
            &name("t"),
            RowChange::Update {
                columns: columns(&[]),
                old,
                new,
            },
        );
        assert_eq!(finish(&mut changes).keys, Keys::Any);
    }
}

#[test]
fn an_update_of_the_key_names_both_rows_and_concerns_every_column() {
    let mut changes = ChangeSet::new();
    changes.record(
        &name("t"),
        RowChange::Update {
            columns: columns(&[]),
            old: rowid(3),
            new: rowid(10),
        },
    );
    let change = finish(&mut changes);
    assert_eq!(change.keys, rows(&[3, 10]));
    assert_eq!(change.columns, Columns::Any);
}

#[test]
fn a_row_without_a_known_key_may_be_any() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), insert(1));
    changes.record(&name("t"), RowChange::Delete { key: None });
    changes.record(&name("t"), insert(2));
    assert_eq!(finish(&mut changes).keys, Keys::Any);
}

#[test]
fn keys_of_several_columns_name_rows() {
    let key = |text: &[u8], number| Some(Key::Columns([Value::Text(text.into()), number].into()));
    let mut changes = ChangeSet::new();
    changes.record(
        &name("t"),
        RowChange::Insert {
            key: key(b"a", Value::Integer(1)),
        },
    );
    changes.record(
        &name("t"),
        RowChange::Delete {
            key: key(b"a", Value::Real(1.0)),
        },
    );
    changes.record(
        &name("t"),
        RowChange::Insert {
            key: key(b"b", Value::Integer(1)),
        },
    );
    let Keys::Only(keys) = finish(&mut changes).keys else {
        panic!("the keys are known")
    };
    assert_eq!(keys.len(), 2);
}

#[test]
fn a_rollback_discards_what_came_after_its_mark_and_nothing_else() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), update(1, &[0]));
    let mark = changes.mark();
    changes.record(&name("t"), update(2, &[1]));
    changes.record(&name("u"), insert(1));
    changes.rollback_to(mark);
    let summary = changes.finish();
    assert!(!summary.touches(&name("u")));
    let change = summary.table(&name("t")).unwrap();
    assert_eq!(
        (change.operations.updates, &change.columns, &change.keys),
        (1, &columns(&[0]), &rows(&[1]))
    );
}

#[test]
fn a_rollback_of_everything_leaves_an_empty_set() {
    let mut changes = ChangeSet::new();
    let mark = changes.mark();
    changes.record(&name("t"), insert(1));
    changes.record_schema_changed();
    changes.record_everything_changed();
    changes.rollback_to(mark);
    assert!(changes.is_empty());
}

#[test]
fn an_outer_rollback_discards_what_inner_marks_kept() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), insert(1));
    let outer = changes.mark();
    changes.record(&name("t"), insert(2));
    let inner = changes.mark();
    changes.record(&name("t"), insert(3));
    changes.rollback_to(inner);
    changes.record(&name("t"), insert(4));
    changes.mark();
    changes.record(&name("t"), insert(5));
    changes.rollback_to(outer);
    assert_eq!(finish(&mut changes).keys, rows(&[1]));
}

#[test]
fn a_mark_can_be_rolled_back_to_again() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), insert(1));
    let mark = changes.mark();
    for row in 2..5 {
        changes.record(&name("t"), insert(row));
        changes.rollback_to(mark);
    }
    changes.record(&name("t"), insert(9));
    assert_eq!(finish(&mut changes).keys, rows(&[1, 9]));
}

#[test]
fn a_row_named_again_after_a_rollback_is_not_lost() {
    let mut changes = ChangeSet::new();
    changes.record(&name("t"), insert(1));
    let mark = changes.mark();
    changes.record(&name("t"), insert(2));
    changes.rollback_to(mark);
    changes.record(&name("t"), insert(2));
    assert_eq!(finish(&mut changes).keys, rows(&[1, 2]));
}

#[test]
fn a_rollback_of_ddl_keeps_earlier_ddl() {
    let mut changes = ChangeSet::new();
    changes.record_schema_changed();
    let mark = changes.mark();
    changes.record_schema_changed();
    changes.rollback_to(mark);
    assert!(changes.finish().schema_changed());
}

#[test]
fn a_row_more_than_the_bound_makes_every_row_a_changed_one() {
    let mut changes = small(|bounds| bounds.keys_per_table = 2);
    for row in [1, 2, 1, 2] {
        changes.record(&name("t"), insert(row));
    }
    assert_eq!(finish(&mut changes).keys, rows(&[1, 2]));
    for row in [1, 2, 3] {
        changes.record(&name("t"), insert(row));
    }
    let change = finish(&mut changes);
    assert_eq!((change.keys, change.operations.inserts), (Keys::Any, 3));
}

#[test]
fn a_key_too_heavy_for_the_bound_makes_every_row_of_its_table_a_changed_one() {
    let mut changes = small(|bounds| bounds.key_bytes = 1_000);
    let heavy = Key::Columns([Value::Blob(vec![0; 1_000].into())].into());
    changes.record(&name("t"), RowChange::Insert { key: Some(heavy) });
    changes.record(&name("u"), insert(1));
    let summary = changes.finish();
    assert_eq!(summary.table(&name("t")).unwrap().keys, Keys::Any);
    assert_eq!(summary.table(&name("u")).unwrap().keys, rows(&[1]));
}

#[test]
fn a_table_more_than_the_bound_changes_everything() {
    let mut changes = small(|bounds| bounds.tables = 2);
    for table in ["t", "u", "t"] {
        changes.record(&name(table), insert(1));
    }
    let mark = changes.mark();
    changes.record(&name("v"), insert(1));
    assert!(changes.everything_changed_at.is_some());
    changes.rollback_to(mark);
    assert!(!changes.finish().everything_changed());
}

#[test]
fn a_rollback_brings_back_the_rows_that_a_bound_had_blurred() {
    let mut changes = small(|bounds| bounds.keys_per_table = 2);
    changes.record(&name("t"), insert(1));
    let mark = changes.mark();
    for row in 2..10 {
        changes.record(&name("t"), insert(row));
    }
    changes.rollback_to(mark);
    assert_eq!(finish(&mut changes).keys, rows(&[1]));
}

#[test]
fn the_room_of_discarded_keys_is_free_again() {
    let mut changes = small(|bounds| bounds.key_bytes = Key::Rowid(0).weight());
    let mark = changes.mark();
    for row in 0..10 {
        changes.record(&name("t"), insert(row));
        changes.rollback_to(mark);
    }
    changes.record(&name("t"), insert(7));
    assert_eq!(finish(&mut changes).keys, rows(&[7]));
}

/// Ten statements, each with its mark, and room to remember how the table stood before three of them.
fn many_statements() -> (ChangeSet, super::Mark, super::Mark) {
    let mut changes = small(|bounds| bounds.saved = 3);
    changes.record(&name("t"), insert(0));
    let (mut first, mut last) = (None, None);
    for row in 1..=10 {
        let mark = changes.mark();
        first.get_or_insert(mark);
        last = Some(mark);
        changes.record(&name("t"), insert(row));
    }
    (changes, first.unwrap(), last.unwrap())
}

#[test]
fn the_last_statement_is_undone_exactly_however_many_came_before() {
    let (mut changes, _, last) = many_statements();
    changes.rollback_to(last);
    assert_eq!(finish(&mut changes).keys, rows(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
}

#[test]
fn a_rollback_past_forgotten_states_leaves_too_much_and_never_too_little() {
    let (mut changes, first, _) = many_statements();
    changes.rollback_to(first);
    let change = finish(&mut changes);
    let Keys::Only(keys) = change.keys else {
        panic!("no bound on keys was reached")
    };
    assert!(keys.len() > 1 && keys.contains(&Key::Rowid(0)), "{keys:?}");
}

#[test]
fn a_table_first_changed_after_a_mark_is_undone_even_when_states_were_forgotten() {
    let mut changes = small(|bounds| bounds.saved = 1);
    let begin = changes.mark();
    for row in 0..10 {
        changes.mark();
        changes.record(&name("t"), insert(row));
    }
    changes.rollback_to(begin);
    assert!(changes.is_empty());
}

#[test]
fn the_newest_statement_is_undone_exactly_whatever_the_number_of_its_tables() {
    let mut changes = small(|bounds| bounds.saved = 1);
    for table in ["t", "u", "v"] {
        changes.record(&name(table), insert(1));
    }
    let mark = changes.mark();
    for table in ["t", "u", "v"] {
        changes.record(&name(table), insert(2));
    }
    changes.rollback_to(mark);
    let summary = changes.finish();
    assert!(summary.tables().all(|(_, change)| change.keys == rows(&[1])));
}
