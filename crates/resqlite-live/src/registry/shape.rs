//! The common part of live queries that are looked up together.

use std::{cmp::Reverse, ops::Bound};

use crate::{
    column_set::Columns,
    dependencies::{Dependencies, TableDependency},
    filter::{Filter, Test},
    table_name::TableName,
};

/// Dependencies without the values of their filters. All live queries of one statement have the same shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) unknown: bool,
    /// In the order of [`Dependencies::tables`]; empty if `unknown`.
    pub(super) tables: Box<[TableShape]>,
}

/// A [`TableDependency`] without values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TableShape {
    pub(super) table: TableName,
    pub(super) columns: Columns,
    /// The columns that the filter tests, each with its role, in the order of the filter; empty without a filter.
    pub(super) roles: Box<[(u16, Role)]>,
}

/// The way in which a test of a filter helps to find live queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// The values of the test are part of the keys under which the live query is found.
    Key,
    /// The range of the test finds the live query among those with the same key.
    Range,
    /// The test is made for each live query that was found.
    Check,
}

impl Shape {
    /// The shape of the dependencies. A live query is found under at most `keys` keys, unless one test alone has more
    /// values.
    pub(super) fn of(dependencies: &Dependencies, keys: usize) -> Self {
        if dependencies.unknown {
            return Self::unknown();
        }
        let tables = dependencies.tables.iter();
        Self {
            unknown: false,
            tables: tables.map(|table| TableShape::of(table, keys)).collect(),
        }
    }

    /// The shape of all live queries that every commit affects.
    pub(super) fn unknown() -> Self {
        Self {
            unknown: true,
            tables: Box::default(),
        }
    }
}

impl TableShape {
    fn of(dependency: &TableDependency, keys: usize) -> Self {
        let filter = dependency.filter.as_ref();
        Self {
            table: dependency.table.clone(),
            columns: dependency.columns.clone(),
            roles: filter.map(|filter| roles(filter, keys)).unwrap_or_default(),
        }
    }
}

fn roles(filter: &Filter, keys: usize) -> Box<[(u16, Role)]> {
    let conjuncts = filter.conjuncts();
    let mut roles: Box<[_]> = conjuncts
        .iter()
        .map(|conjunct| (conjunct.column, Role::Check))
        .collect();
    for key in key_tests(filter, keys) {
        roles[key].1 = Role::Key;
    }
    if let Some(range) = range_test(filter) {
        roles[range].1 = Role::Range;
    }
    roles
}

/// Returns the positions of the lists whose values are combined into keys: as many lists as the bound allows, the
/// shortest first, one per column.
fn key_tests(filter: &Filter, bound: usize) -> Vec<usize> {
    let mut lists: Vec<(usize, u16, usize)> = (0..)
        .zip(filter.conjuncts())
        .filter_map(|(position, conjunct)| match &conjunct.test {
            Test::In(values) => Some((values.len(), conjunct.column, position)),
            Test::Range { .. } => None,
        })
        .collect();
    lists.sort_unstable();
    let mut chosen: Vec<(usize, u16, usize)> = Vec::new();
    let mut keys = 1;
    for list in lists {
        let product = list.0.saturating_mul(keys);
        let fits = chosen.is_empty() || product <= bound;
        if fits && chosen.iter().all(|other| other.1 != list.1) {
            keys = product;
            chosen.push(list);
        }
    }
    chosen.into_iter().map(|(_, _, position)| position).collect()
}

/// Returns the position of the range with the most ends; the first one if several ranges have as many.
fn range_test(filter: &Filter) -> Option<usize> {
    let ends = |lower: &Bound<_>, upper: &Bound<_>| {
        [lower, upper]
            .iter()
            .filter(|end| !matches!(end, Bound::Unbounded))
            .count()
    };
    (0..)
        .zip(filter.conjuncts())
        .filter_map(|(position, conjunct)| match &conjunct.test {
            Test::Range { lower, upper } => Some((Reverse(ends(lower, upper)), position)),
            Test::In(_) => None,
        })
        .min()
        .map(|(_, position)| position)
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{self, Included, Unbounded};

    use super::{
        Role::{self, Check, Key, Range},
        roles,
    };
    use crate::{
        filter::{Conjunct, Filter, Test},
        value::Value,
    };

    fn list(column: u16, values: i64) -> Conjunct {
        let test = Test::In((0..values).map(Value::Integer).collect());
        Conjunct { column, test }
    }

    fn range(column: u16, lower: Bound<i64>, upper: Bound<i64>) -> Conjunct {
        let (lower, upper) = (lower.map(Value::Integer), upper.map(Value::Integer));
        let test = Test::Range { lower, upper };
        Conjunct { column, test }
    }

    fn roles_of<const N: usize>(keys: usize, conjuncts: [Conjunct; N]) -> Vec<(u16, Role)> {
        roles(&Filter::new(conjuncts).unwrap(), keys).into()
    }

    #[test]
    fn lists_make_the_key_and_a_range_is_looked_up_among_them() {
        let found = roles_of(10, [range(2, Included(1), Unbounded), list(1, 1), list(3, 1)]);
        assert_eq!(found, [(1, Key), (2, Range), (3, Key)]);
    }

    #[test]
    fn the_shortest_lists_make_the_key_when_not_all_fit() {
        let found = roles_of(10, [list(0, 6), list(1, 2), list(2, 3)]);
        assert_eq!(found, [(0, Check), (1, Key), (2, Key)]);
    }

    #[test]
    fn one_list_makes_the_key_however_long() {
        assert_eq!(roles_of(10, [list(0, 20)]), [(0, Key)]);
    }

    #[test]
    fn a_column_is_in_the_key_once() {
        assert_eq!(roles_of(10, [list(0, 3), list(0, 2)]), [(0, Check), (0, Key)]);
    }

    #[test]
    fn the_range_with_both_ends_is_looked_up() {
        let found = roles_of(
            10,
            [
                range(0, Included(1), Unbounded),
                range(1, Included(1), Included(2)),
                range(2, Included(1), Included(2)),
            ],
        );
        assert_eq!(found, [(0, Check), (1, Range), (2, Check)]);
    }
}
