//! Plans: which calls fail.

use super::calls::{Call, Failure};

/// Makes `times` calls fail, after `after` calls that succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The calls that fail, and how.
    pub what: What,
    /// The number of such calls that succeed first.
    pub after: u64,
    /// The number of calls that fail then; `u64::MAX` for all.
    pub times: u64,
}

/// The calls that a plan applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Calls of one kind fail in one way.
    One(Call, Failure),
    /// Calls of every kind fail in their simplest way, as if the device were gone.
    Everything,
}

impl Plan {
    /// Makes one call fail, after `after` calls of its kind that succeed.
    pub fn once(call: Call, after: u64, failure: Failure) -> Self {
        Self {
            what: What::One(call, failure),
            after,
            times: 1,
        }
    }

    fn failure(&self, call: Call) -> Option<Failure> {
        match self.what {
            What::One(kind, failure) => (kind == call).then_some(failure),
            What::Everything => Some(call.failures()[0]),
        }
    }
}

/// A plan that is being carried out.
#[derive(Debug)]
pub(super) struct Progress {
    plan: Plan,
    counted: u64,
    pub(super) injected: u64,
}

impl Progress {
    pub(super) fn new(plan: Plan) -> Self {
        Self {
            plan,
            counted: 0,
            injected: 0,
        }
    }

    /// Counts a call; returns how it is to fail, if it is.
    pub(super) fn begin(&mut self, call: Call) -> Option<Failure> {
        let failure = self.plan.failure(call)?;
        let at = self.counted;
        self.counted += 1;
        let fails = at >= self.plan.after && at - self.plan.after < self.plan.times;
        self.injected += u64::from(fails);
        fails.then_some(failure)
    }
}
