//! A statement whose result is to be maintained, as it was read.

use sqlite3_parser::ast::{self, OneSelect, With};

use crate::sql::{
    plan::ArmPlan,
    syntax::{Arm, CommonTable, Select},
    tokens::Numbered,
};

/// A statement: its text, its syntax tree, and what it says.
pub(super) struct Parsed<'a> {
    pub(super) sql: &'a str,
    pub(super) numbered: &'a Numbered,
    pub(super) tree: &'a ast::Select<'a>,
    pub(super) select: &'a Select,
}

impl<'a> Parsed<'a> {
    /// Returns the SELECTs of the statement, each with its plan from `plans`.
    pub(super) fn arms(&self, plans: &'a [ArmPlan]) -> impl Iterator<Item = OneArm<'a>> {
        let Self { tree, select, .. } = *self;
        let compounds = tree.body.compounds.iter().flatten();
        let trees = compounds.map(|compound| &compound.select);
        let trees = [&tree.body.select].into_iter().chain(trees);
        let arms = trees.zip(&select.arms).zip(plans);
        arms.map(move |((one, arm), plan)| OneArm {
            with: tree.with.as_ref(),
            tree: one,
            common: &select.with,
            arm,
            plan,
        })
    }
}

/// One SELECT of a statement.
#[derive(Clone, Copy)]
pub(super) struct OneArm<'p> {
    pub(super) with: Option<&'p With<'p>>,
    pub(super) tree: &'p OneSelect<'p>,
    /// The tables of WITH.
    pub(super) common: &'p [CommonTable],
    /// The contents of the SELECT.
    pub(super) arm: &'p Arm,
    /// The plan of `arm`.
    pub(super) plan: &'p ArmPlan,
}
