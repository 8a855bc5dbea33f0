use std::sync::Arc;

use super::{Bounds, ChangeSet, Mark};
use crate::{
    column_set::Columns,
    image::{Image, Watched},
    row_change::RowChange,
    summary::{Rows, TableChange},
    table_name::TableName,
    value::Value,
};

fn name(table: &str) -> TableName {
    TableName::new("main", table)
}

/// Columns 0 to 9 compared, column 0 kept.
fn watched() -> Arc<Watched> {
    Arc::new(Watched {
        compared: (0..10).collect(),
        images: [0].into(),
        ..Watched::default()
    })
}

fn image(value: i64) -> Option<Image> {
    Some([Value::Integer(value)].into())
}

fn insert(value: i64) -> RowChange {
    RowChange::Insert { new: image(value) }
}

fn delete(value: i64) -> RowChange {
    RowChange::Delete { old: image(value) }
}

fn columns(columns: &[u16]) -> Columns {
    Columns::Only(columns.iter().copied().collect())
}

/// An UPDATE of these columns that leaves the value in column 0.
fn update(value: i64, changed: &[u16]) -> RowChange {
    RowChange::Update {
        columns: columns(changed),
        old: image(value),
        new: image(value),
    }
}

/// Records a change to `table`, decoded as [`watched`] says.
fn record(changes: &mut ChangeSet, table: &str, change: RowChange) {
    changes.record(&name(table), &watched(), change);
}

/// Rows that were inserted, with these values.
fn rows(values: &[i64]) -> Rows {
    Rows::Only(values.iter().copied().map(insert).collect())
}

fn small(change: impl FnOnce(&mut Bounds)) -> ChangeSet {
    let mut bounds = Bounds::default();
    change(&mut bounds);
    ChangeSet::with_bounds(bounds)
}

/// The changes of the table `t`, as a commit reports them.
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
    record(&mut changes, "t", insert(1));
    changes.record_schema_changed();
    changes.finish();
    assert!(changes.is_empty());

    record(&mut changes, "t", insert(1));
    let summary = changes.finish();
    assert!(!summary.schema_changed());
    assert_eq!(summary.table(&name("t")).unwrap().rows, rows(&[1]));
}

#[test]
fn clearing_discards_everything() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", insert(1));
    changes.record_schema_changed();
    changes.record_everything_changed();
    changes.clear();
    assert!(changes.is_empty());
    assert!(changes.finish().is_empty());
}

#[test]
fn every_change_of_a_row_is_kept_with_the_values_before_and_after() {
    let mut changes = ChangeSet::new();
    let moved = RowChange::Update {
        columns: columns(&[0, 3]),
        old: image(1),
        new: image(5),
    };
    let changed = [insert(1), moved, delete(5)];
    for change in changed.clone() {
        record(&mut changes, "t", change);
    }
    assert_eq!(finish(&mut changes).rows, Rows::Only(changed.into()));
}

#[test]
fn a_change_says_how_it_was_decoded() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", insert(1));
    assert_eq!(finish(&mut changes).watched, watched());
}

#[test]
fn rows_belong_to_their_table() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", insert(1));
    record(&mut changes, "u", insert(2));
    record(&mut changes, "t", insert(3));
    let summary = changes.finish();
    assert_eq!(summary.table(&name("t")).unwrap().rows, rows(&[1, 3]));
    assert_eq!(summary.table(&name("u")).unwrap().rows, rows(&[2]));
}

#[test]
fn updates_collect_their_columns() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", update(1, &[0, 3]));
    record(&mut changes, "t", update(2, &[3, 200]));
    assert_eq!(finish(&mut changes).columns, columns(&[0, 3, 200]));
}

#[test]
fn inserts_and_deletes_add_no_columns() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", insert(1));
    record(&mut changes, "t", delete(2));
    assert_eq!(finish(&mut changes).columns, columns(&[]));
}

#[test]
fn an_update_of_no_compared_column_is_kept_because_it_may_have_changed_another() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", update(1, &[]));
    let change = finish(&mut changes);
    assert_eq!((change.operations.updates, change.columns), (1, columns(&[])));
    let Rows::Only(rows) = change.rows else {
        panic!("the images are known")
    };
    assert_eq!(rows[0].columns(), Some(&columns(&[])));
}

#[test]
fn an_update_of_any_column_makes_any_column_a_changed_one() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", update(1, &[3]));
    let any = RowChange::Update {
        columns: Columns::Any,
        old: image(1),
        new: image(1),
    };
    record(&mut changes, "t", any);
    record(&mut changes, "t", update(1, &[4]));
    assert_eq!(finish(&mut changes).columns, Columns::Any);
}

#[test]
fn a_row_without_a_known_image_may_be_any() {
    let unknown = [
        RowChange::Insert { new: None },
        RowChange::Delete { old: None },
        RowChange::Update {
            columns: columns(&[0]),
            old: image(1),
            new: None,
        },
        RowChange::Update {
            columns: columns(&[0]),
            old: None,
            new: image(1),
        },
    ];
    for change in unknown {
        let mut changes = ChangeSet::new();
        record(&mut changes, "t", insert(1));
        record(&mut changes, "t", change.clone());
        record(&mut changes, "t", insert(2));
        assert_eq!(finish(&mut changes).rows, Rows::Any, "{change:?}");
    }
}

#[test]
fn without_images_any_row_may_have_changed_and_none_is_kept() {
    let watched = Arc::new(Watched {
        images: [].into(),
        ..(*watched()).clone()
    });
    let mut changes = ChangeSet::new();
    for change in [insert(1), update(1, &[2]), delete(1)] {
        changes.record(&name("t"), &watched, change);
    }
    assert_eq!((changes.tables[0].rows.capacity(), changes.row_bytes), (0, 0));
    let change = finish(&mut changes);
    assert_eq!((change.rows, change.columns), (Rows::Any, columns(&[2])));
}

#[test]
fn of_changes_that_were_decoded_differently_only_the_operations_are_kept() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", update(1, &[2]));
    let mark = changes.mark();
    changes.record(&name("t"), Watched::nothing(), RowChange::Insert { new: None });
    changes.rollback_to(mark);
    record(&mut changes, "t", update(1, &[3]));
    assert_eq!(finish(&mut changes).columns, columns(&[2, 3]));

    record(&mut changes, "t", update(1, &[2]));
    changes.record(&name("t"), Watched::nothing(), RowChange::Insert { new: None });
    let change = finish(&mut changes);
    assert_eq!((change.columns, change.rows), (Columns::Any, Rows::Any));
    assert_eq!((change.operations.inserts, change.operations.updates), (1, 1));
}

#[test]
fn a_rollback_discards_what_came_after_its_mark_and_nothing_else() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", update(1, &[0]));
    let mark = changes.mark();
    record(&mut changes, "t", update(2, &[1]));
    record(&mut changes, "u", insert(1));
    changes.rollback_to(mark);
    let summary = changes.finish();
    assert!(summary.table(&name("u")).is_none());
    let change = summary.table(&name("t")).unwrap();
    let kept = update(1, &[0]);
    assert_eq!(
        (change.operations.updates, &change.columns, &change.rows),
        (1, &columns(&[0]), &Rows::Only([kept].into()))
    );
}

#[test]
fn a_rollback_of_everything_leaves_an_empty_set() {
    let mut changes = ChangeSet::new();
    let mark = changes.mark();
    record(&mut changes, "t", insert(1));
    changes.record_schema_changed();
    changes.record_everything_changed();
    changes.rollback_to(mark);
    assert!(changes.is_empty());
}

#[test]
fn an_outer_rollback_discards_what_inner_marks_kept() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", insert(1));
    let outer = changes.mark();
    record(&mut changes, "t", insert(2));
    let inner = changes.mark();
    record(&mut changes, "t", insert(3));
    changes.rollback_to(inner);
    record(&mut changes, "t", insert(4));
    changes.mark();
    record(&mut changes, "t", insert(5));
    changes.rollback_to(outer);
    assert_eq!(finish(&mut changes).rows, rows(&[1]));
}

#[test]
fn a_mark_can_be_rolled_back_to_again() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", insert(1));
    let mark = changes.mark();
    for row in 2..5 {
        record(&mut changes, "t", insert(row));
        changes.rollback_to(mark);
    }
    record(&mut changes, "t", insert(9));
    assert_eq!(finish(&mut changes).rows, rows(&[1, 9]));
}

#[test]
fn a_row_recorded_again_after_a_rollback_is_not_lost() {
    let mut changes = ChangeSet::new();
    record(&mut changes, "t", insert(1));
    let mark = changes.mark();
    record(&mut changes, "t", insert(2));
    changes.rollback_to(mark);
    record(&mut changes, "t", insert(2));
    assert_eq!(finish(&mut changes).rows, rows(&[1, 2]));
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
fn a_row_more_than_the_bound_makes_any_row_a_changed_one() {
    let mut changes = small(|bounds| bounds.rows_per_table = 2);
    for row in [1, 2] {
        record(&mut changes, "t", insert(row));
    }
    assert_eq!(finish(&mut changes).rows, rows(&[1, 2]));
    for row in [1, 2, 3] {
        record(&mut changes, "t", insert(row));
    }
    let change = finish(&mut changes);
    assert_eq!((change.rows, change.operations.inserts), (Rows::Any, 3));
}

#[test]
fn an_image_too_heavy_for_the_bound_makes_any_row_of_its_table_a_changed_one() {
    let mut changes = small(|bounds| bounds.row_bytes = 1_000);
    let heavy: Image = [Value::Blob(vec![0; 1_000].into())].into();
    record(&mut changes, "t", RowChange::Insert { new: Some(heavy) });
    record(&mut changes, "u", insert(1));
    let summary = changes.finish();
    assert_eq!(summary.table(&name("t")).unwrap().rows, Rows::Any);
    assert_eq!(summary.table(&name("u")).unwrap().rows, rows(&[1]));
}

#[test]
fn a_table_more_than_the_bound_changes_everything() {
    let mut changes = small(|bounds| bounds.tables = 2);
    for table in ["t", "u", "t"] {
        record(&mut changes, table, insert(1));
    }
    let mark = changes.mark();
    record(&mut changes, "v", insert(1));
    assert!(changes.everything_changed_at.is_some());
    changes.rollback_to(mark);
    assert!(!changes.finish().everything_changed());
}

#[test]
fn a_rollback_restores_the_rows_from_before_a_bound_was_reached() {
    let mut changes = small(|bounds| bounds.rows_per_table = 2);
    record(&mut changes, "t", insert(1));
    let mark = changes.mark();
    for row in 2..10 {
        record(&mut changes, "t", insert(row));
    }
    changes.rollback_to(mark);
    assert_eq!(finish(&mut changes).rows, rows(&[1]));
}

#[test]
fn the_room_of_discarded_rows_is_free_again() {
    let row = insert(0).weight();
    let mut changes = small(|bounds| bounds.row_bytes = row);
    let mark = changes.mark();
    for row in 0..10 {
        record(&mut changes, "t", insert(row));
        changes.rollback_to(mark);
    }
    record(&mut changes, "t", insert(7));
    assert_eq!(finish(&mut changes).rows, rows(&[7]));
}

/// Ten statements, each with its mark, and room to remember how the table stood before three of them.
fn many_statements() -> (ChangeSet, Mark, Mark) {
    let mut changes = small(|bounds| bounds.saved = 3);
    record(&mut changes, "t", insert(0));
    let (mut first, mut last) = (None, None);
    for row in 1..=10 {
        let mark = changes.mark();
        first.get_or_insert(mark);
        last = Some(mark);
        record(&mut changes, "t", insert(row));
    }
    (changes, first.unwrap(), last.unwrap())
}

#[test]
fn the_last_statement_is_undone_exactly_after_any_number_of_others() {
    let (mut changes, _, last) = many_statements();
    changes.rollback_to(last);
    assert_eq!(finish(&mut changes).rows, rows(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
}

#[test]
fn a_rollback_past_dropped_states_leaves_too_much_and_never_too_little() {
    let (mut changes, first, _) = many_statements();
    changes.rollback_to(first);
    let change = finish(&mut changes);
    let Rows::Only(kept) = change.rows else {
        panic!("no bound on rows was reached")
    };
    assert!(kept.len() > 1 && kept[0].after() == image(0).as_ref(), "{kept:?}");
}

#[test]
fn a_summary_says_whether_a_rollback_left_too_much() {
    let (mut changes, _, last) = many_statements();
    changes.rollback_to(last);
    assert!(changes.finish().is_exact());
    let (mut changes, first, _) = many_statements();
    changes.rollback_to(first);
    assert!(!changes.finish().is_exact());
    record(&mut changes, "t", insert(0));
    assert!(changes.finish().is_exact(), "the next transaction");
}

#[test]
fn a_table_first_changed_after_a_mark_is_undone_even_if_states_were_dropped() {
    let mut changes = small(|bounds| bounds.saved = 1);
    let begin = changes.mark();
    for row in 0..10 {
        changes.mark();
        record(&mut changes, "t", insert(row));
    }
    changes.rollback_to(begin);
    assert!(changes.is_empty());
}

#[test]
fn the_newest_statement_is_undone_exactly_with_any_number_of_tables() {
    let mut changes = small(|bounds| bounds.saved = 1);
    for table in ["t", "u", "v"] {
        record(&mut changes, table, insert(1));
    }
    let mark = changes.mark();
    for table in ["t", "u", "v"] {
        record(&mut changes, table, insert(2));
    }
    changes.rollback_to(mark);
    let summary = changes.finish();
    assert!(summary.tables().all(|(_, change)| change.rows == rows(&[1])));
}
