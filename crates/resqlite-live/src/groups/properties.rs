//! [`Groups`] against a list of all rows, of which each answer is found again.

use std::collections::{BTreeMap, BTreeSet};

use dice::cases;
use proptest::{collection::vec, prelude::*, sample};

use super::{Aggregate, AggregateValue, Contribution, Doubt, Group, GroupTerm, Groups, GroupsChange};
use crate::value::Value::{self, Blob, Integer, Null, Real, Text};

/// The effect of a commit on the rows: some leave, others come.
#[derive(Debug, Clone)]
struct Commit {
    leave: Vec<sample::Index>,
    come: Vec<Contribution>,
}

#[derive(Debug, Clone)]
struct Scenario {
    terms: usize,
    aggregates: Vec<Aggregate>,
    rows: Vec<Contribution>,
    commits: Vec<Commit>,
}

fn text(text: &str) -> Value {
    Text(text.as_bytes().into())
}

/// Values that are one group each.
fn group_value() -> impl Strategy<Value = Value> {
    sample::select(vec![
        Null,
        Integer(0),
        Integer(1),
        Real(0.5),
        text("a"),
        text("A"),
        Blob([97].into()),
    ])
}

/// Mostly INTEGERs, small or near the border; seldom what makes doubts.
fn argument() -> impl Strategy<Value = Value> {
    let odd = vec![
        Real(1.0),
        Real(0.5),
        Real(-0.0),
        Real(0.0),
        text("1"),
        text("b"),
        Blob([].into()),
    ];
    let large = vec![i64::MAX, i64::MAX - 2, i64::MIN, i64::MIN + 1, 1 << 62];
    prop_oneof![
        60 => (-3..4_i64).prop_map(Integer),
        10 => Just(Null),
        2 => sample::select(large).prop_map(Integer),
        1 => sample::select(odd),
    ]
}

fn row(terms: usize, aggregates: usize) -> impl Strategy<Value = Contribution> {
    (vec(group_value(), terms), vec(argument(), aggregates)).prop_map(|(group, arguments)| Contribution {
        group: group.into(),
        arguments: arguments.into(),
    })
}

fn scenario() -> impl Strategy<Value = Scenario> {
    use Aggregate::{Average, Count, Max, Min, Rows, Sum, Total};
    let aggregate = sample::select(vec![Rows, Count, Sum, Total, Average, Min, Max]);
    (0..3_usize, vec(aggregate, 0..4)).prop_flat_map(|(terms, aggregates)| {
        let row = || row(terms, aggregates.len());
        let commit = (vec(any::<sample::Index>(), 0..4), vec(row(), 0..4));
        let commit = commit.prop_map(|(leave, come)| Commit { leave, come });
        (vec(row(), 0..12), vec(commit, 1..12)).prop_map(move |(rows, commits)| Scenario {
            terms,
            aggregates: aggregates.clone(),
            rows,
            commits,
        })
    })
}

/// A value with its type, which comparisons do not see.
fn exact(value: &Value) -> String {
    format!("{value:?}")
}

fn found(value: AggregateValue) -> String {
    match value {
        AggregateValue::Null => exact(&Null),
        AggregateValue::Integer(integer) => exact(&Integer(integer)),
        AggregateValue::Real(real) => exact(&Real(real)),
        AggregateValue::Extreme(value) => exact(value),
    }
}

/// The result that SQLite finds for one aggregate over these arguments, in any order; `None` if it depends on the order.
fn expected(aggregate: Aggregate, arguments: &[&Value]) -> Option<String> {
    let values = || arguments.iter().copied().filter(|value| **value != Null);
    let integers = || -> Option<Vec<i128>> {
        let integer = |value: &Value| match value {
            Integer(integer) => Some(i128::from(*integer)),
            _ => None,
        };
        values().map(integer).collect()
    };
    let sum = || -> Option<i64> {
        let integers = integers()?;
        let part =
            |wanted: fn(&i128) -> bool| integers.iter().filter(|integer| wanted(integer)).sum::<i128>();
        i64::try_from(part(|integer| *integer > 0)).ok()?;
        i64::try_from(part(|integer| *integer < 0)).ok()?;
        i64::try_from(integers.iter().sum::<i128>()).ok()
    };
    let extreme = |extreme: Option<&Value>| {
        let Some(extreme) = extreme else {
            return Some(exact(&Null));
        };
        let equal: BTreeSet<String> = values().filter(|value| *value == extreme).map(exact).collect();
        (equal.len() == 1).then(|| exact(extreme))
    };
    let count = values().count();
    match aggregate {
        Aggregate::Rows => Some(exact(&Integer(arguments.len() as i64))),
        Aggregate::Count => Some(exact(&Integer(count as i64))),
        Aggregate::Sum if count == 0 => Some(exact(&Null)),
        Aggregate::Average if count == 0 => Some(exact(&Null)),
        Aggregate::Sum => sum().map(|sum| exact(&Integer(sum))),
        Aggregate::Total => sum().map(|sum| exact(&Real(sum as f64))),
        Aggregate::Average => sum().map(|sum| exact(&Real(sum as f64 / count as f64))),
        Aggregate::Min => extreme(values().min()),
        Aggregate::Max => extreme(values().max()),
    }
}

/// All groups with the value of each aggregate, as far as it does not depend on the order of the rows.
type Answer = BTreeMap<Vec<Value>, (u64, Vec<Option<String>>)>;

fn answer(scenario: &Scenario, rows: &[Contribution]) -> Answer {
    let mut groups: BTreeMap<Vec<Value>, Vec<&Contribution>> = BTreeMap::new();
    if scenario.terms == 0 {
        groups.insert(Vec::new(), Vec::new());
    }
    for row in rows {
        groups.entry(row.group.to_vec()).or_default().push(row);
    }
    let value = |rows: &[&Contribution], at: usize| {
        let arguments: Vec<&Value> = rows.iter().map(|row| &row.arguments[at]).collect();
        expected(scenario.aggregates[at], &arguments)
    };
    let group = |(values, rows): (Vec<Value>, Vec<&Contribution>)| {
        let aggregates = (0..scenario.aggregates.len())
            .map(|at| value(&rows, at))
            .collect();
        (values, (rows.len() as u64, aggregates))
    };
    groups.into_iter().map(group).collect()
}

fn kept(group: &Group, aggregates: usize) -> (u64, Vec<Option<String>>) {
    let values = (0..aggregates).map(|at| Some(found(group.value(at)))).collect();
    (group.rows(), values)
}

fn answer_of(groups: &Groups, aggregates: usize) -> Answer {
    (groups
        .iter()
        .map(|(values, group)| (values.to_vec(), kept(group, aggregates))))
    .collect()
}

fn run(scenario: &Scenario, rows: &[Contribution]) -> Result<Groups, Doubt> {
    let terms = vec![GroupTerm::default(); scenario.terms];
    let mut groups = Groups::new(terms.into(), scenario.aggregates.clone().into());
    rows.iter()
        .try_for_each(|row| groups.add(&row.group, &row.arguments))?;
    Ok(groups)
}

/// The weight that is counted on the way, found again.
fn heap(groups: &Groups) -> usize {
    let heap = |values: &[Value]| size_of_val(values) + values.iter().map(Value::heap_bytes).sum::<usize>();
    groups
        .iter()
        .map(|(values, group)| heap(values) + group.heap_bytes())
        .sum()
}

fn assert_changes_tell_all(before: &Answer, after: &Answer, change: &GroupsChange, aggregates: usize) {
    let mut folded = before.clone();
    for (values, group) in change.groups() {
        match group {
            Some(group) => folded.insert(values.to_vec(), kept(group, aggregates)),
            None => Some(folded.remove(values).expect("only groups that were there vanish")),
        };
    }
    assert_eq!(&folded, after);
}

/// The change, with unknown groups made of their rows.
fn asked_again(
    scenario: &Scenario,
    mut change: GroupsChange,
    rows: &[Contribution],
) -> Result<GroupsChange, Doubt> {
    let is_unknown = |row: &&Contribution| change.unknown().contains(&row.group);
    let rows: Vec<Contribution> = rows.iter().filter(is_unknown).cloned().collect();
    if !change.unknown().is_empty() {
        let made = run(scenario, &rows)?;
        change.know(|values| made.get(values))?;
    }
    Ok(change)
}

fn is_allowed(doubt: Doubt, before: &[Contribution], come: &[Contribution], sure: bool) {
    let arguments = || before.iter().chain(come).flat_map(|row| &row.arguments);
    match doubt {
        Doubt::NotAnInteger => assert!(arguments().any(|value| !matches!(value, Null | Integer(_)))),
        Doubt::EqualExtremes => assert!(arguments().any(|value| matches!(value, Real(_)))),
        Doubt::Overflow => assert!(!sure, "an answer that depends on no order is found"),
        Doubt::ExtremeLeft | Doubt::EqualGroups | Doubt::NeverCame => panic!("{doubt}"),
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    // G143
    #[test]
    fn rows_that_come_and_leave_make_the_groups_that_a_full_run_finds(scenario in scenario()) {
        let aggregates = scenario.aggregates.len();
        let mut rows = scenario.rows.clone();
        let mut groups = run(&scenario, &rows).ok();
        for commit in &scenario.commits {
            let before = rows.clone();
            let mut left = Vec::new();
            for index in &commit.leave {
                if !rows.is_empty() {
                    left.push(rows.swap_remove(index.index(rows.len())));
                }
            }
            rows.extend(commit.come.iter().cloned());
            let expected = answer(&scenario, &rows);
            let is_sure = expected.values().all(|(_, values)| values.iter().all(Option::is_some));
            if let Some(groups) = &mut groups {
                let now = answer_of(groups, aggregates);
                match groups.plan(&commit.come, &left).and_then(|change| asked_again(&scenario, change, &rows)) {
                    Ok(change) => {
                        assert_changes_tell_all(&now, &expected, &change, aggregates);
                        let differ = |values: &&Vec<Value>| now.get(*values) != expected.get(*values);
                        let different = now.keys().chain(expected.keys()).filter(differ);
                        prop_assert!(different.collect::<BTreeSet<_>>().len() <= change.len());
                        groups.apply(change);
                        prop_assert_eq!(answer_of(groups, aggregates), expected.clone());
                        prop_assert_eq!(groups.heap, heap(groups));
                    }
                    Err(doubt) => {
                        is_allowed(doubt, &before, &commit.come, is_sure);
                        prop_assert_eq!(answer_of(groups, aggregates), now, "a plan changes nothing");
                    }
                }
            }
            // As the engine does: after a doubt, the query runs as a whole.
            let is_current = groups.as_ref().is_some_and(|groups| answer_of(groups, aggregates) == expected);
            if !is_current {
                groups = run(&scenario, &rows).ok();
            }
            prop_assert!(groups.is_some() || !is_sure || has_equal_values(&rows));
            if let Some(groups) = &groups {
                prop_assert_eq!(answer_of(groups, aggregates), expected);
                prop_assert_eq!(groups.heap, heap(groups));
            }
        }
    }
}

/// Returns whether a run may meet 1 and 1.0 on its way to an extreme that is neither.
fn has_equal_values(rows: &[Contribution]) -> bool {
    rows.iter()
        .flat_map(|row| &row.arguments)
        .any(|value| matches!(value, Real(_)))
}

/// One group, of one aggregate, over these values.
fn over(aggregate: Aggregate, values: &[Value]) -> Result<Groups, Doubt> {
    let mut groups = Groups::new([].into(), [aggregate].into());
    values
        .iter()
        .try_for_each(|value| groups.add(&[], std::slice::from_ref(value)))?;
    Ok(groups)
}

fn rows(values: &[Value]) -> Vec<Contribution> {
    let row = |value: &Value| Contribution {
        group: [].into(),
        arguments: [value.clone()].into(),
    };
    values.iter().map(row).collect()
}

/// The value after some values came and others left.
fn after(groups: &Groups, came: &[Value], left: &[Value]) -> Result<String, Doubt> {
    let change = groups.plan(&rows(came), &rows(left))?;
    if !change.unknown().is_empty() {
        return Err(Doubt::ExtremeLeft);
    }
    let now = change.groups().next().and_then(|(_, group)| group);
    let group = now
        .or_else(|| groups.get(&[]))
        .expect("the one group always stays");
    Ok(found(group.value(0)))
}

#[test]
fn a_query_without_group_by_has_one_row_even_of_nothing() {
    let groups = over(Aggregate::Sum, &[Integer(1)]).unwrap();
    assert_eq!(after(&groups, &[], &[Integer(1)]), Ok("Null".into()));
    let value = |aggregate| found(over(aggregate, &[]).unwrap().get(&[]).unwrap().value(0));
    let (none, zero) = ("Null", "Integer(0)");
    assert_eq!([Aggregate::Rows, Aggregate::Count].map(value), [zero, zero]);
    let others = [
        Aggregate::Sum,
        Aggregate::Total,
        Aggregate::Average,
        Aggregate::Min,
    ];
    assert_eq!(others.map(value), [none, "Real(0.0)", none, none]);
}

#[test]
fn a_group_vanishes_with_its_last_row_and_returns() {
    let mut groups = Groups::new([GroupTerm::default()].into(), [Aggregate::Rows].into());
    let row = |group| Contribution {
        group: [group].into(),
        arguments: [Null].into(),
    };
    groups.add(&[Null], &[Null]).unwrap();
    let change = groups.plan(&[], &[row(Null)]).unwrap();
    assert_eq!(change.groups().collect::<Vec<_>>(), [(&[Null][..], None)]);
    groups.apply(change);
    assert!(groups.is_empty());
    let change = groups.plan(&[row(Null)], &[]).unwrap();
    groups.apply(change);
    assert_eq!(groups.get(&[Null]).unwrap().rows(), 1);
}

#[test]
fn a_row_that_contributes_as_before_changes_no_group() {
    let groups = over(Aggregate::Max, &[Integer(3), Integer(2)]).unwrap();
    for value in [Integer(3), Integer(2)] {
        let row = rows(&[value]);
        let change = groups.plan(&row, &row).unwrap();
        assert!(change.is_empty());
    }
}

#[test]
fn an_extreme_may_leave_while_an_equal_or_better_one_is_there() {
    let groups = over(Aggregate::Min, &[Integer(1), Integer(1), Integer(2)]).unwrap();
    assert_eq!(after(&groups, &[], &[Integer(1)]), Ok("Integer(1)".into()));
    assert_eq!(
        after(&groups, &[], &[Integer(1), Integer(1)]),
        Err(Doubt::ExtremeLeft)
    );
    assert_eq!(
        after(&groups, &[Integer(0)], &[Integer(1), Integer(1)]),
        Ok("Integer(0)".into())
    );
    assert_eq!(
        after(&groups, &[Null], &[Integer(2), Integer(1), Integer(1)]),
        Ok("Null".into())
    );
}

#[test]
fn extremes_that_are_equal_but_of_two_types_are_doubtful() {
    let groups = over(Aggregate::Max, &[Integer(1)]).unwrap();
    assert_eq!(after(&groups, &[Real(1.0)], &[]), Err(Doubt::EqualExtremes));
    assert_eq!(after(&groups, &[Real(0.5)], &[]), Ok("Integer(1)".into()));
    let groups = over(Aggregate::Max, &[Real(0.0)]).unwrap();
    assert_eq!(after(&groups, &[Real(-0.0)], &[]), Err(Doubt::EqualExtremes));
}

// G145
#[test]
fn a_sum_is_doubtful_where_some_order_of_its_values_overflows() {
    let groups = over(Aggregate::Sum, &[Integer(i64::MAX), Integer(-1)]).unwrap();
    assert_eq!(after(&groups, &[Integer(1)], &[]), Err(Doubt::Overflow));
    assert_eq!(
        after(&groups, &[Integer(1)], &[Integer(i64::MAX)]),
        Ok("Integer(0)".into())
    );
    assert_eq!(
        over(Aggregate::Total, &[Integer(i64::MIN), Integer(-1)]).err(),
        Some(Doubt::Overflow)
    );
    assert_eq!(
        over(Aggregate::Sum, &[text("1")]).err(),
        Some(Doubt::NotAnInteger)
    );
}

#[test]
fn groups_that_are_equal_but_of_two_types_are_doubtful() {
    let doubt = |is_real, value| {
        let mut groups = Groups::new([GroupTerm { is_real }].into(), [].into());
        groups.add(&[value], &[]).err()
    };
    let equal = Some(Doubt::EqualGroups);
    assert_eq!(doubt(false, Real(1.0)), equal);
    assert_eq!(doubt(true, Real(1.0)), None);
    assert_eq!(doubt(false, Real(1e300)), None);
    assert_eq!(
        [doubt(false, Real(-0.0)), doubt(true, Real(-0.0))],
        [equal, equal]
    );
}

#[test]
fn a_row_that_never_came_cannot_leave() {
    for aggregate in [
        Aggregate::Rows,
        Aggregate::Count,
        Aggregate::Average,
        Aggregate::Max,
    ] {
        let groups = over(aggregate, &[]).unwrap();
        assert_eq!(after(&groups, &[], &[Integer(1)]), Err(Doubt::NeverCame));
    }
    let groups = over(Aggregate::Max, &[Integer(1)]).unwrap();
    assert_eq!(after(&groups, &[], &[Integer(2)]), Err(Doubt::NeverCame));
}

#[test]
#[should_panic(expected = "the change is for these groups")]
fn a_change_is_for_the_groups_it_was_planned_for() {
    let mut groups = over(Aggregate::Rows, &[]).unwrap();
    let change = groups.plan(&rows(&[Null]), &[]).unwrap();
    groups.add(&[], &[Null]).unwrap();
    groups.apply(change);
}
