//! The possible meanings of names in a SELECT.

use crate::{
    maintain::{clauses::Mention, keyed::Planner, through::Seen},
    sql::{
        names::is_rowid,
        plan::{Place, Rows},
        scope::Lookup,
        syntax::Output,
        tables::Table,
    },
};

impl Planner<'_> {
    /// The possible meanings of names in a SELECT.
    pub(super) fn named<'s>(&'s self, arm: &'s Seen<'s>) -> Names<'s> {
        Names {
            places: arm.places(),
            tables: self.tables,
            outputs: &arm.one.arm.outputs,
        }
    }
}

/// The sources of a SELECT and the columns of its result, which its names can mean.
pub(super) struct Names<'a> {
    pub(super) places: &'a [Place],
    pub(super) tables: &'a [Table],
    pub(super) outputs: &'a [Output],
}

impl Names<'_> {
    /// Returns whether a name may mean a column behind LEFT JOIN.
    pub(super) fn is_behind_left_join(&self, name: &Mention) -> bool {
        let mut meant = self.meant(name).peekable();
        // A name that is not a column of a source may be the name of a column of the result.
        if meant.peek().is_none() {
            return self.outputs.iter().any(|output| output.is_called(&name.name));
        }
        meant.any(|place| self.places[place].is_optional())
    }

    /// The places in FROM of which a name may mean a column.
    pub(super) fn meant<'s>(&'s self, mention: &'s Mention) -> impl Iterator<Item = usize> + 's {
        let is_meant = |place: &Place| match &mention.table {
            Some(table) => {
                let called = place.called.as_deref();
                called.is_none_or(|called| called.eq_ignore_ascii_case(table))
            }
            None => self.has_column(place, &mention.name),
        };
        (0..self.places.len()).filter(move |&at| is_meant(&self.places[at]))
    }

    fn has_column(&self, place: &Place, name: &str) -> bool {
        let is_rowid = matches!(place.rows, Rows::Table(_)) && is_rowid(name);
        is_rowid || !matches!(place.lookup(name, self.tables), Lookup::Absent)
    }
}
