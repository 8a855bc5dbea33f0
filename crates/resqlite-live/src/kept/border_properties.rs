//! [`KeptWindow`] against the whole result.

use std::collections::HashSet;

use dice::cases;
use proptest::prelude::*;

use super::{
    Clip, KeptRow, KeptRows, KeptWindow, Order, SourceKey, Window,
    properties::{Commit, Model, by_one_term, fingerprints, fold, kept, row_of, scenario},
};
use crate::patch::Segment;

fn window() -> impl Strategy<Value = Window> {
    let limit = prop_oneof![1 => -1..1_i64, 8 => 1..8_i64];
    let offset = prop_oneof![1 => -1..1_i64, 1 => 1..8_i64];
    (limit, offset).prop_map(|(limit, offset)| Window::new(limit, offset))
}

/// The fingerprints of the rows that a window shows of a whole result.
fn slice(window: Window, rows: &[KeptRow]) -> Vec<u64> {
    fingerprints(&rows[window.shown(rows.len())])
}

/// Reads as much of the whole result as the window needs.
fn fill(window: Window, slack: usize, order: &Order, whole: &[KeptRow]) -> (KeptWindow, KeptRows) {
    let (mut kept, mut rows) = (KeptWindow::new(window, slack), KeptRows::new(order.clone()));
    let read = whole.iter().take(kept.most()).cloned();
    read.for_each(|row| rows.append(row).expect("they are in order"));
    kept.filled(&rows);
    (kept, rows)
}

/// The rows that a window showed, and those that it shows after a commit.
struct Step<'a> {
    old: &'a [u64],
    new: &'a [KeptRow],
    clip: &'a Clip,
}

/// Runs the commits of a scenario, and as often the whole result as the window asks for it.
fn run(
    (order, rows, commits): (Order, Vec<KeptRow>, Vec<Commit>),
    window: Window,
    slack: usize,
    mut check: impl FnMut(Step<'_>) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut model = Model::new(order.clone(), rows);
    let (mut kept, mut rows) = fill(window, slack, &order, &model.result());
    for commit in commits {
        let old = slice(window, &model.result());
        let changed = commit.changed.clone();
        let (_, now) = model.commit(commit);
        let whole = model.result();
        let new = &whole[window.shown(whole.len())];
        match kept.plan(&rows, &changed, now)? {
            Some((plan, clip)) => {
                check(Step {
                    old: &old,
                    new,
                    clip: &clip,
                })?;
                kept.apply(&mut rows, plan);
            }
            None => (kept, rows) = fill(window, slack, &order, &whole),
        }
        prop_assert_eq!(rows.fingerprints(), fingerprints(&whole[..rows.len()]));
        prop_assert_eq!(kept.fingerprints(&rows), fingerprints(new));
        prop_assert!(rows.len() <= kept.most().saturating_add(slack));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn the_segments_make_what_is_shown_from_what_was_shown(
        scenario in scenario(), window in window(), slack in 0..6_usize,
    ) {
        run(scenario, window, slack, |Step { old, new, clip }| {
            let (made, new) = (fold(old, clip.segments(), clip.new_rows().iter()), fingerprints(new));
            prop_assert_eq!(&made, &new);
            prop_assert_eq!(clip.is_unchanged(), old == new);
            Ok(())
        })?;
    }

    // G140
    #[test]
    fn a_row_that_was_shown_is_kept_at_most_once_and_not_read_again(
        scenario in scenario(), window in window(), slack in 0..6_usize,
    ) {
        run(scenario, window, slack, |Step { old, clip, .. }| {
            let positions = kept(clip.segments());
            let different: HashSet<u32> = positions.iter().copied().collect();
            prop_assert_eq!(positions.len(), different.len());
            let left = (0..old.len() as u32).filter(|position| !different.contains(position));
            let left: HashSet<u64> = left.map(|position| old[position as usize]).collect();
            prop_assert!(clip.new_rows().iter().all(|row| !left.contains(&row.fingerprint)));
            Ok(())
        })?;
    }

    /// The window of a result all of whose rows are kept for other reasons.
    // G136
    #[test]
    fn any_window_can_be_clipped_from_a_plan((order, rows, commits) in scenario(), window in window()) {
        let mut model = Model::new(order, rows);
        let mut rows = model.run();
        for commit in commits {
            let old = slice(window, &model.result());
            let changed = commit.changed.clone();
            let (_, now) = model.commit(commit);
            let plan = rows.plan(&changed, now)?;
            let clip = rows.clip(&plan, window);
            let made = fold(&old, clip.segments(), clip.new_rows().iter());
            prop_assert_eq!(made, slice(window, &model.result()));
            rows.apply(plan);
        }
    }

    #[test]
    fn rows_that_come_into_sight_are_named_by_their_base_rows(
        scenario in scenario(), window in window(), slack in 0..6_usize,
    ) {
        run(scenario, window, slack, |Step { new, clip, .. }| {
            prop_assert!(clip.new_rows().iter().all(|row| new.contains(row)));
            Ok(())
        })?;
    }
}

fn rowid(id: i64) -> (usize, SourceKey) {
    (0, SourceKey::Rowid(id))
}

/// Of the rows 1 to 9, sorted by 10 to 90, LIMIT 3 OFFSET 2 with a slack of 2.
fn third_to_fifth() -> (KeptWindow, KeptRows) {
    let mut rows = by_one_term();
    let mut kept = KeptWindow::new(Window::new(3, 2), 2);
    assert_eq!(kept.most(), 7);
    (1..=7).for_each(|id| rows.append(row_of(id, 10 * id)).unwrap());
    kept.filled(&rows);
    (kept, rows)
}

// G141
#[test]
fn what_sorts_behind_the_border_changes_nothing() {
    let (kept, rows) = third_to_fifth();
    let (plan, clip) = kept
        .plan(&rows, &[rowid(8)], vec![row_of(8, 71)])
        .unwrap()
        .unwrap();
    assert!(clip.is_unchanged() && clip.new_rows().is_empty());
    assert_eq!(plan.rows_after(rows.len()), 7, "it is not kept");
}

#[test]
fn a_row_before_the_window_brings_another_one_into_sight() {
    let (kept, rows) = third_to_fifth();
    let (_, clip) = kept.plan(&rows, &[rowid(1)], vec![]).unwrap().unwrap();
    assert_eq!(clip.segments(), [Segment::keep(1..3), Segment::New { count: 1 }]);
    assert_eq!(clip.new_rows(), [row_of(6, 60)]);
}

#[test]
fn when_too_few_rows_are_left_nothing_is_known() {
    let (mut kept, mut rows) = third_to_fifth();
    let (plan, _) = kept.plan(&rows, &[rowid(3), rowid(4)], vec![]).unwrap().unwrap();
    kept.apply(&mut rows, plan);
    assert!(kept.plan(&rows, &[rowid(5)], vec![]).unwrap().is_none());
}

#[test]
fn without_limit_all_rows_are_kept() {
    let kept = KeptWindow::new(Window::new(-1, 3), 2);
    assert_eq!(kept.most(), usize::MAX);
}

#[test]
fn slack_that_is_used_up_doubles_up_to_a_bound() {
    let (mut kept, mut rows) = third_to_fifth();
    assert_eq!(kept.next_slack(&rows, 8), 2, "nothing of it is used");
    let (plan, _) = kept.plan(&rows, &[rowid(3), rowid(4)], vec![]).unwrap().unwrap();
    kept.apply(&mut rows, plan);
    assert_eq!(kept.next_slack(&rows, 8), 4);
    assert_eq!(kept.next_slack(&rows, 3), 3);
}
