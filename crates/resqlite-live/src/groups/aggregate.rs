//! The aggregates that can be kept, and the state that is kept of each aggregate.

use crate::{
    groups::{doubt::Doubt, extreme::Extreme, sum::Sum},
    value::Value,
};

/// An aggregate whose value stays known when rows enter and leave. Each aggregate except [`Rows`](Self::Rows) looks at its
/// argument, which is the value of an expression in each row. It ignores NULLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// `count(*)`. The argument does not matter.
    Rows,
    /// `count(x)`. With `1` or NULL as the argument, it is `count(*)` with a FILTER.
    Count,
    /// `sum(x)`, of INTEGERs.
    Sum,
    /// `total(x)`, of INTEGERs.
    Total,
    /// `avg(x)`, of INTEGERs.
    Average,
    /// `min(x)`, under BINARY.
    Min,
    /// `max(x)`, under BINARY.
    Max,
}

/// The result of an aggregate for one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AggregateValue<'a> {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL.
    Real(f64),
    /// A value that a row has.
    Extreme(&'a Value),
}

/// The state that is kept of one aggregate for one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Rows(u64),
    Count(u64),
    Sum(Sum),
    Total(Sum),
    Average(Sum),
    Extreme(Extreme),
}

impl State {
    pub(super) fn new(aggregate: Aggregate) -> Self {
        match aggregate {
            Aggregate::Rows => State::Rows(0),
            Aggregate::Count => State::Count(0),
            Aggregate::Sum => State::Sum(Sum::default()),
            Aggregate::Total => State::Total(Sum::default()),
            Aggregate::Average => State::Average(Sum::default()),
            Aggregate::Min => State::Extreme(Extreme::least()),
            Aggregate::Max => State::Extreme(Extreme::greatest()),
        }
    }

    pub(super) fn add(&mut self, argument: &Value) -> Result<(), Doubt> {
        match self {
            State::Rows(count) => *count += 1,
            State::Count(count) => *count += u64::from(is_counted(argument)),
            State::Sum(sum) | State::Total(sum) | State::Average(sum) => sum.add(argument)?,
            State::Extreme(extreme) => extreme.add(argument)?,
        }
        Ok(())
    }

    pub(super) fn subtract(&mut self, argument: &Value) -> Result<(), Doubt> {
        match self {
            State::Rows(count) => *count = count.checked_sub(1).ok_or(Doubt::NeverCame)?,
            State::Count(count) => {
                let counted = u64::from(is_counted(argument));
                *count = count.checked_sub(counted).ok_or(Doubt::NeverCame)?;
            }
            State::Sum(sum) | State::Total(sum) | State::Average(sum) => sum.subtract(argument)?,
            State::Extreme(extreme) => extreme.subtract(argument)?,
        }
        Ok(())
    }

    /// Checks that the value is known, and that SQLite finds the same value in any order of the rows.
    pub(super) fn check(&self) -> Result<(), Doubt> {
        match self {
            State::Rows(_) | State::Count(_) => Ok(()),
            State::Sum(sum) | State::Total(sum) | State::Average(sum) => sum.check(),
            State::Extreme(extreme) => extreme.check(),
        }
    }

    pub(super) fn value(&self) -> AggregateValue<'_> {
        match self {
            State::Rows(count) | State::Count(count) => AggregateValue::Integer(*count as i64),
            State::Sum(Sum { count: 0, .. }) => AggregateValue::Null,
            State::Average(Sum { count: 0, .. }) => AggregateValue::Null,
            State::Sum(sum) => AggregateValue::Integer(sum.total()),
            State::Total(sum) => AggregateValue::Real(sum.total() as f64),
            // This is how SQLite divides.
            State::Average(sum) => AggregateValue::Real(sum.total() as f64 / sum.count as f64),
            State::Extreme(extreme) => AggregateValue::Extreme(extreme.value()),
        }
    }

    /// Returns the number of bytes that the state holds outside itself.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            State::Extreme(extreme) => extreme.heap_bytes(),
            _ => 0,
        }
    }
}

fn is_counted(argument: &Value) -> bool {
    !matches!(argument, Value::Null)
}
