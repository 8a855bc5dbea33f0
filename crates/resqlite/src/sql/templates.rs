//! Conditions whose columns are known, and whose parameters have no values yet.

use std::ops::Bound;

use resqlite_live::{Conjunct, Filter, Test, Value};
use resqlite_sqlite::Connection;

use super::{affinity::Affinity, elements::elements, syntax::Comparison};

/// The largest number of values in one condition. A condition with more values is no filter.
const VALUES_MAX: usize = 4096;

/// A condition on one column of one table that every row must fulfil to matter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Template {
    pub(super) column: u16,
    pub(super) affinity: Affinity,
    pub(super) comparison: Comparison,
    pub(super) operands: Vec<Operand>,
}

/// A value that a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    Value(Value),
    /// The parameter of this number, counted from 1.
    Parameter(usize),
    /// The elements of the JSON array in the parameter of this number.
    ElementsOf(usize),
}

/// The values of the parameters of a statement.
pub(super) struct Parameters<'c> {
    /// The connection that reads JSON, as SQLite does.
    pub(super) connection: &'c Connection,
    pub(super) values: Vec<Value>,
    /// The database stores text as UTF-8.
    pub(super) utf8: bool,
}

/// The reason why a condition on a column is not part of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dropped {
    pub(super) column: String,
    pub(super) why: &'static str,
}

impl Template {
    /// Returns the test, with the values of parameters filled in.
    ///
    /// # Errors
    /// The reason why there is no test with these values.
    fn test(&self, parameters: &Parameters<'_>) -> Result<Test, &'static str> {
        let mut values = Vec::with_capacity(self.operands.len());
        for operand in &self.operands {
            operand.add_to(&mut values, parameters)?;
        }
        if values.len() > VALUES_MAX {
            return Err("it is compared with too many values");
        }
        let fits = |value| self.affinity.fits(value, parameters.utf8);
        values.iter().try_for_each(fits)?;
        let (lower, upper) = match self.comparison {
            Comparison::Equal => {
                values.sort();
                values.dedup();
                return Ok(Test::In(values.into()));
            }
            Comparison::Less => (Bound::Unbounded, values.pop().map(Bound::Excluded)),
            Comparison::LessEqual => (Bound::Unbounded, values.pop().map(Bound::Included)),
            Comparison::Greater => (values.pop().map_or(Bound::Unbounded, Bound::Excluded), None),
            Comparison::GreaterEqual => (values.pop().map_or(Bound::Unbounded, Bound::Included), None),
        };
        let upper = upper.unwrap_or(Bound::Unbounded);
        Ok(Test::Range { lower, upper })
    }
}

impl Operand {
    /// Adds the values that the operand stands for.
    fn add_to(&self, values: &mut Vec<Value>, parameters: &Parameters<'_>) -> Result<(), &'static str> {
        match self {
            Self::Value(value) => values.push(value.clone()),
            Self::Parameter(number) => values.push(parameters.value(*number)?.clone()),
            Self::ElementsOf(number) => {
                let elements = elements(parameters.connection, parameters.value(*number)?);
                values.extend(elements.ok_or("it is compared with JSON that is no array of plain values")?);
            }
        }
        Ok(())
    }
}

impl Parameters<'_> {
    fn value(&self, number: usize) -> Result<&Value, &'static str> {
        self.values
            .get(number - 1)
            .ok_or("it is compared with a parameter that has no value")
    }
}

/// Returns the filter that the conditions of a table form with these values, one test per column. Also returns the positions of the
/// templates that are not part of it, with the reasons.
pub(super) fn filter(
    templates: &[Template],
    parameters: &Parameters<'_>,
) -> (Option<Filter>, Vec<(usize, &'static str)>) {
    let mut conjuncts: Vec<Conjunct> = Vec::new();
    let mut dropped = Vec::new();
    for (position, template) in templates.iter().enumerate() {
        let test = match template.test(parameters) {
            Ok(test) => test,
            Err(why) => {
                dropped.push((position, why));
                continue;
            }
        };
        match conjuncts.iter_mut().find(|known| known.column == template.column) {
            Some(known) => narrow(&mut known.test, test),
            None => conjuncts.push(Conjunct {
                column: template.column,
                test,
            }),
        }
    }
    (Filter::new(conjuncts), dropped)
}

/// Adds another test of the same column, if both together form one test. A list of values is more precise than a range.
fn narrow(known: &mut Test, other: Test) {
    match (&mut *known, other) {
        (Test::In(_), _) => {}
        (Test::Range { .. }, values @ Test::In(_)) => *known = values,
        (
            Test::Range { lower, upper },
            Test::Range {
                lower: other_lower,
                upper: other_upper,
            },
        ) => {
            let lower_then = higher(lower.clone(), other_lower);
            let upper_then = lower_of(upper.clone(), other_upper);
            if has_room(&lower_then, &upper_then) {
                (*lower, *upper) = (lower_then, upper_then);
            }
        }
    }
}

/// The narrower of two lower ends.
fn higher(left: Bound<Value>, right: Bound<Value>) -> Bound<Value> {
    narrower(left, right, |left, right| left > right)
}

/// The narrower of two upper ends.
fn lower_of(left: Bound<Value>, right: Bound<Value>) -> Bound<Value> {
    narrower(left, right, |left, right| left < right)
}

fn narrower(left: Bound<Value>, right: Bound<Value>, is_inside: fn(&Value, &Value) -> bool) -> Bound<Value> {
    match (limit(&left), limit(&right)) {
        (_, None) => left,
        (None, _) => right,
        (Some(one), Some(other)) if is_inside(one, other) => left,
        (Some(one), Some(other)) if is_inside(other, one) => right,
        _ if matches!(left, Bound::Excluded(_)) => left,
        _ => right,
    }
}

fn limit(bound: &Bound<Value>) -> Option<&Value> {
    match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value),
        Bound::Unbounded => None,
    }
}

/// Returns whether a value can lie between two ends.
fn has_room(lower: &Bound<Value>, upper: &Bound<Value>) -> bool {
    match (limit(lower), limit(upper)) {
        (Some(low), Some(high)) if low == high => {
            matches!((lower, upper), (Bound::Included(_), Bound::Included(_)))
        }
        (Some(low), Some(high)) => low < high,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{self, *};

    use resqlite_live::{Conjunct, Filter, Test, Value};
    use resqlite_sqlite::{Access, Connection};

    use super::{super::affinity::Affinity, Comparison, Comparison::*, Operand, Parameters, Template};

    /// Returns the filter of templates with these parameters, and the templates that are not part of it.
    fn filter(templates: &[Template], values: &[Value]) -> (Option<Filter>, Vec<(usize, &'static str)>) {
        let parameters = Parameters {
            connection: &Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap(),
            values: values.into(),
            utf8: true,
        };
        super::filter(templates, &parameters)
    }

    fn template(comparison: Comparison, values: &[i64]) -> Template {
        Template {
            column: 3,
            affinity: Affinity::Numeric,
            comparison,
            operands: values
                .iter()
                .map(|&value| Operand::Value(Value::Integer(value)))
                .collect(),
        }
    }

    fn test_of(templates: &[Template]) -> Test {
        let (filter, _) = filter(templates, &[]);
        let filter = filter.expect("a filter");
        let [Conjunct { column: 3, test }] = filter.conjuncts() else {
            panic!("{filter:?}");
        };
        test.clone()
    }

    fn range(lower: Bound<i64>, upper: Bound<i64>) -> Test {
        Test::Range {
            lower: lower.map(Value::Integer),
            upper: upper.map(Value::Integer),
        }
    }

    #[test]
    fn two_ranges_of_a_column_become_the_range_that_both_allow() {
        let between = |templates: &[Template]| test_of(templates);
        assert_eq!(
            between(&[template(GreaterEqual, &[2]), template(Less, &[9])]),
            range(Included(2), Excluded(9))
        );
        assert_eq!(
            between(&[template(Greater, &[2]), template(GreaterEqual, &[2])]),
            range(Excluded(2), Unbounded)
        );
        assert_eq!(
            between(&[template(LessEqual, &[5]), template(Less, &[7])]),
            range(Unbounded, Included(5))
        );
        assert_eq!(
            between(&[template(GreaterEqual, &[5]), template(LessEqual, &[5])]),
            range(Included(5), Included(5))
        );
    }

    #[test]
    fn ranges_that_exclude_each_other_leave_the_first() {
        for (first, second) in [
            (template(GreaterEqual, &[9]), template(Less, &[2])),
            (template(GreaterEqual, &[9]), template(Less, &[9])),
        ] {
            assert_eq!(test_of(&[first, second]), range(Included(9), Unbounded));
        }
    }

    #[test]
    fn values_go_before_ranges_and_the_first_values_before_others() {
        let one = Test::In([Value::Integer(1)].into());
        assert_eq!(test_of(&[template(Greater, &[0]), template(Equal, &[1])]), one);
        assert_eq!(test_of(&[template(Equal, &[1]), template(Greater, &[0])]), one);
        assert_eq!(test_of(&[template(Equal, &[1]), template(Equal, &[2])]), one);
    }

    #[test]
    fn values_are_sorted_and_each_is_there_once() {
        let values = Test::In([Value::Integer(1), Value::Integer(2)].into());
        assert_eq!(test_of(&[template(Equal, &[2, 1, 2])]), values);
    }

    #[test]
    fn a_value_that_does_not_fit_drops_its_whole_condition_and_no_other() {
        let mut with_text = template(Equal, &[1]);
        with_text
            .operands
            .push(Operand::Value(Value::Text(b"2".as_slice().into())));
        let (filter, dropped) = filter(&[with_text, template(Less, &[5])], &[]);
        assert_eq!(filter.unwrap().conjuncts()[0].test, range(Unbounded, Excluded(5)));
        assert_eq!(dropped.len(), 1);
    }

    #[test]
    fn a_parameter_without_a_value_or_with_null_drops_its_condition() {
        let mut open = template(Equal, &[]);
        open.operands.push(Operand::Parameter(2));
        let with = |values: &[Value]| filter(&[open.clone()], values).0;
        assert!(with(&[Value::Integer(1)]).is_none());
        assert!(with(&[Value::Integer(1), Value::Null]).is_none());
        assert!(with(&[Value::Null, Value::Integer(1)]).is_some());
    }

    #[test]
    fn a_condition_with_very_many_values_is_no_filter() {
        let many: Vec<i64> = (0..=super::VALUES_MAX as i64).collect();
        assert!(filter(&[template(Equal, &many)], &[]).0.is_none());
        assert!(filter(&[template(Equal, &many[1..])], &[]).0.is_some());
    }

    // G248
    #[test]
    fn the_elements_of_an_array_are_the_values_that_sqlite_finds_in_it() {
        let mut elements = template(Equal, &[]);
        elements.operands.push(Operand::ElementsOf(1));
        let with = |json: &str| {
            let (filter, _) = filter(&[elements.clone()], &[Value::Text(json.as_bytes().into())]);
            filter.map(|filter| filter.conjuncts()[0].test.clone())
        };
        let values = |values: &[Value]| Some(Test::In(values.into()));
        assert_eq!(
            with("[2, 1.5, 1, true]"),
            values(&[Value::Integer(1), Value::Real(1.5), Value::Integer(2)])
        );
        assert_eq!(with("[]"), values(&[]));
        assert_eq!(with("7"), values(&[Value::Integer(7)]));
        for none in [
            "[1, null]",
            "[1, '2']",
            "[1, \"2\"]",
            "[1, [2]]",
            "[1, {}]",
            "[1",
            "",
            "[9e999, \"a\"]",
        ] {
            assert_eq!(with(none), None, "{none}");
        }
    }
}
