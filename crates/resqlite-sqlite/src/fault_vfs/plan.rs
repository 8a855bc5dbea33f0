//! Which calls fail.

use super::calls::{Call, Failure};

/// Lets calls fail: those after the first `after` ones, and so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// What fails.
    pub what: What,
    /// How many such calls go well first.
    pub after: u64,
    /// How many fail then; `u64::MAX`: all.
    pub times: u64,
}

/// What a plan is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Calls of one kind, in one way.
    One(Call, Failure),
    /// Calls of all kinds, each in its plainest way: the device is gone.
    Everything,
}

impl Plan {
    /// One call fails, after `after` ones of its kind that do not.
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

/// A plan while it is carried out.
#[derive(Debug)]
pub(super) struct Progress {
    plan: Plan,
    met: u64,
    pub(super) injected: u64,
}

impl Progress {
    pub(super) fn new(plan: Plan) -> Self {
        Self {
            plan,
            met: 0,
            injected: 0,
        }
    }

    /// How this call is to fail, if it is.
    pub(super) fn meets(&mut self, call: Call) -> Option<Failure> {
        let failure = self.plan.failure(call)?;
        let at = self.met;
        self.met += 1;
        let fails = at >= self.plan.after && at - self.plan.after < self.plan.times;
        self.injected += u64::from(fails);
        fails.then_some(failure)
    }
}
