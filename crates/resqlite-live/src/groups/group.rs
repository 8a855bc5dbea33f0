//! One group.

use crate::{
    groups::{
        aggregate::{Aggregate, AggregateValue, State},
        doubt::Doubt,
    },
    value::Value,
};

/// The number of rows of a group, and the state that is kept of each aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    rows: u64,
    states: Box<[State]>,
}

impl Group {
    /// Returns a group without rows.
    pub(super) fn new(aggregates: &[Aggregate]) -> Self {
        Self {
            rows: 0,
            states: aggregates.iter().copied().map(State::new).collect(),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The result of an aggregate.
    ///
    /// # Panics
    /// There is no such aggregate.
    pub fn value(&self, aggregate: usize) -> AggregateValue<'_> {
        self.states[aggregate].value()
    }

    pub(super) fn add(&mut self, arguments: &[Value]) -> Result<(), Doubt> {
        assert_eq!(
            arguments.len(),
            self.states.len(),
            "one argument for each aggregate"
        );
        self.rows += 1;
        let mut states = self.states.iter_mut().zip(arguments);
        states.try_for_each(|(state, argument)| state.add(argument))
    }

    pub(super) fn subtract(&mut self, arguments: &[Value]) -> Result<(), Doubt> {
        assert_eq!(
            arguments.len(),
            self.states.len(),
            "one argument for each aggregate"
        );
        self.rows = self.rows.checked_sub(1).ok_or(Doubt::NeverCame)?;
        let mut states = self.states.iter_mut().zip(arguments);
        states.try_for_each(|(state, argument)| state.subtract(argument))
    }

    /// Checks that all values are known, and that SQLite finds the same values in any order of the rows.
    pub(super) fn check(&self) -> Result<(), Doubt> {
        self.states.iter().try_for_each(State::check)
    }

    /// Returns the number of bytes that the group holds outside itself.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.states) + self.states.iter().map(State::heap_bytes).sum::<usize>()
    }
}
