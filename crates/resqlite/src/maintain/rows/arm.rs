//! One SELECT of a statement, cut at its clauses.

use super::{names::Names, rows_plan::Absence};
use crate::{
    maintain::{
        clauses::Clauses,
        keyed::{Keyed, Planner},
    },
    sql::{plan::Place, syntax::Select},
};

/// One SELECT of a statement: its clauses, and what it reads.
pub(super) struct Arm<'a> {
    pub(super) clauses: Clauses<'a>,
    pub(super) select: &'a Select,
    pub(super) places: &'a [Place],
    pub(super) sources: &'a [Keyed<'a>],
    pub(super) absences: Vec<Absence>,
}

impl Arm<'_> {
    /// How many columns the keys of its sources have.
    pub(super) fn key_columns(&self) -> usize {
        self.sources.iter().map(|source| source.key.len()).sum()
    }
}

impl Planner<'_> {
    /// What names in a SELECT can mean.
    pub(super) fn named<'s>(&'s self, arm: &Arm<'s>) -> Names<'s> {
        Names {
            places: arm.places,
            tables: self.tables,
            outputs: &arm.select.arms[0].outputs,
        }
    }
}
