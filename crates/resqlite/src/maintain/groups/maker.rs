//! The parts of which the statements are made.

use super::{parts::Parts, rewrite::Rewriter, scope::Scope};
use crate::maintain::{
    keyed::Planner,
    parsed::{OneArm, Parsed},
};

/// Builds the statements that maintain the groups of one query.
pub(super) struct Maker<'a> {
    pub(super) planner: &'a Planner<'a>,
    pub(super) parsed: &'a Parsed<'a>,
    /// The functions in the statement that make one value of many rows.
    pub(super) aggregates: &'a [String],
    pub(super) parts: &'a Parts<'a>,
    pub(super) scope: &'a Scope<'a>,
    pub(super) one: OneArm<'a>,
}

impl<'a> Maker<'a> {
    pub(super) fn rewriter(&self) -> Rewriter<'a> {
        Rewriter {
            numbered: self.parsed.numbered,
            aggregates: self.aggregates,
            terms: Vec::new(),
            named: &|_| None,
            calls: Vec::new(),
        }
    }
}
