//! Minimum and maximum.

use std::cmp::Ordering;

use crate::{groups::doubt::Doubt, value::Value};

/// The least or the greatest of all values except NULLs, under BINARY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extreme {
    /// The result of comparing a value with the extreme if the value takes the extreme's place.
    better: Ordering,
    /// NULL if there are no values.
    value: Value,
    /// The number of values that equal the extreme.
    equal: u64,
    count: u64,
}

impl Extreme {
    pub(super) fn least() -> Self {
        Self::new(Ordering::Less)
    }

    pub(super) fn greatest() -> Self {
        Self::new(Ordering::Greater)
    }

    fn new(better: Ordering) -> Self {
        Self {
            better,
            value: Value::Null,
            equal: 0,
            count: 0,
        }
    }

    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.value.heap_bytes()
    }

    pub(super) fn add(&mut self, value: &Value) -> Result<(), Doubt> {
        if matches!(value, Value::Null) {
            return Ok(());
        }
        let ordering = value.cmp(&self.value);
        if self.count == 0 || ordering == self.better {
            (self.value, self.equal) = (value.clone(), 1);
        } else if ordering.is_eq() {
            if !value.is_same(&self.value) {
                return Err(Doubt::EqualExtremes);
            }
            self.equal += 1;
        }
        self.count += 1;
        Ok(())
    }

    pub(super) fn subtract(&mut self, value: &Value) -> Result<(), Doubt> {
        if matches!(value, Value::Null) {
            return Ok(());
        }
        self.count = self.count.checked_sub(1).ok_or(Doubt::NeverCame)?;
        let ordering = value.cmp(&self.value);
        if ordering == self.better {
            return Err(Doubt::NeverCame);
        }
        if ordering.is_eq() {
            self.equal = self.equal.checked_sub(1).ok_or(Doubt::NeverCame)?;
        }
        if self.count == 0 {
            *self = Self::new(self.better);
        }
        Ok(())
    }

    /// Checks that the extreme is known.
    pub(super) fn check(&self) -> Result<(), Doubt> {
        if self.equal == 0 && self.count > 0 {
            return Err(Doubt::ExtremeLeft);
        }
        Ok(())
    }
}
