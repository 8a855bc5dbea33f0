//! Sums of INTEGERs that are the same in any order.

use crate::{groups::doubt::Doubt, value::Value};

/// The sum of all values except NULLs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    /// The sum of the positive values. Together with the sum of the negative values, it bounds every intermediate sum in any
    /// order.
    positive: i128,
    negative: i128,
    pub(super) count: u64,
}

impl Sum {
    pub(super) fn add(&mut self, value: &Value) -> Result<(), Doubt> {
        let Some(integer) = integer(value)? else {
            return Ok(());
        };
        *self.part(integer) += i128::from(integer);
        self.count += 1;
        Ok(())
    }

    pub(super) fn subtract(&mut self, value: &Value) -> Result<(), Doubt> {
        let Some(integer) = integer(value)? else {
            return Ok(());
        };
        *self.part(integer) -= i128::from(integer);
        self.count = self.count.checked_sub(1).ok_or(Doubt::NeverCame)?;
        Ok(())
    }

    /// Checks that SQLite finds this sum without an overflow, in any order.
    pub(super) fn check(&self) -> Result<(), Doubt> {
        let fits = |part| i64::try_from(part).is_ok();
        if fits(self.positive) && fits(self.negative) {
            Ok(())
        } else {
            Err(Doubt::Overflow)
        }
    }

    pub(super) fn total(&self) -> i64 {
        (self.positive + self.negative) as i64
    }

    fn part(&mut self, integer: i64) -> &mut i128 {
        if integer < 0 {
            &mut self.negative
        } else {
            &mut self.positive
        }
    }
}

/// Returns the INTEGER, or `None` for NULL. SQLite also reads numbers from TEXT, but that is left to SQLite.
fn integer(value: &Value) -> Result<Option<i64>, Doubt> {
    match value {
        Value::Null => Ok(None),
        Value::Integer(integer) => Ok(Some(*integer)),
        Value::Real(_) | Value::Text(_) | Value::Blob(_) => Err(Doubt::NotAnInteger),
    }
}
