//! What the statements are made of.

use super::{planner::Planner, rewrite::Rewriter, scope::Scope, text::Parts};
use crate::sql::plan::ArmPlan;

/// Puts the statements together.
pub(super) struct Maker<'a> {
    pub(super) planner: &'a Planner<'a>,
    pub(super) parts: &'a Parts<'a>,
    pub(super) scope: &'a Scope<'a>,
    pub(super) arm: &'a ArmPlan,
    /// If the table is read through SELECTs.
    pub(super) seen: Option<&'a ArmPlan>,
}

impl<'a> Maker<'a> {
    pub(super) fn rewriter(&self) -> Rewriter<'a> {
        Rewriter {
            numbered: &self.planner.numbered,
            aggregates: &self.planner.aggregates,
            terms: Vec::new(),
            named: &|_| None,
            calls: Vec::new(),
        }
    }
}
