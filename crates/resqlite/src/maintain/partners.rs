//! Statements that find the rows of the first source that have another partner behind LEFT JOIN after a change, for statements
//! in which rows that are not kept matter.
//!
//! A condition on a source behind LEFT JOIN leaves out rows. Such rows are not kept, so they cannot show what they were joined
//! with. For each such source, two statements find that out. They read the sources up to this one, without the conditions of
//! WHERE:
//!
//! ```text
//! SELECT a.x FROM a LEFT JOIN b ON b.a = a.id WHERE b.id IS NULL
//!   now     SELECT a.id FROM a LEFT JOIN b ON b.a = a.id WHERE b.id = ?1
//!   before  SELECT a.id FROM a LEFT JOIN images AS b ON b.a = a.id WHERE b.sign IS NOT NULL
//! ```
//!
//! **Why that is enough.** Suppose that a row of the result exists in one state only, although none of the base rows that it
//! comes from has changed. Then ON and WHERE compare the same values in both states, except for sources of which the result row
//! has no row. Take the first of these sources that makes the difference. The result row's base rows of the sources before it
//! exist in both states. In the other state, they match a row of this source, which must be a changed row. If the other state
//! is the new one, `now` finds the row of the first source by the key of that changed row. If it is the old one, `before` finds
//! it by the old image of that row. Both statements leave out later sources and WHERE, which only makes them find more.

use std::sync::Arc;

use super::{
    base::Base,
    images::{OverImages, SIGN, table_of},
    keyed::{Keyed, Planner, present_with, table},
    limit,
    parsed::OneArm,
    through::{Instead, Seen, see_through},
};
use crate::sql::{
    plan::{Rows, Stop},
    syntax::Refused,
    tokens::Numbered,
};

/// The statements that find the rows of the first source that are, or were, joined with a row behind LEFT JOIN. Each gives the
/// keys of the first source; the parameters have numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Partners {
    /// Gives the rows that are joined now. The parameters behind those of the statement are the key of the row behind LEFT
    /// JOIN.
    pub(crate) now: Arc<str>,
    /// Gives the rows that were joined with an image.
    pub(crate) before: OverImages,
}

pub(super) const PARTNERS_DECIDE: Refused = "a condition leaves out rows behind LEFT JOIN";

impl Planner<'_> {
    /// The statements that find the rows that are, or were, joined with a row of the source of this position; `None` if such
    /// statements would have to look at all rows of a table.
    pub(super) fn partners(
        &self,
        arm: OneArm<'_>,
        numbered: &Numbered,
        position: usize,
    ) -> Result<Option<Partners>, Stop> {
        let places = &arm.plan.places;
        let place = &places[position];
        let Rows::Table(_) = place.rows else {
            return Ok(None);
        };
        let Some(called) = &place.called else {
            return Ok(None);
        };
        let (of, columns) = table(place, self.tables)?;
        let base = match Base::read(self.connection, &of.name, called, columns) {
            Err(Stop::Refused(_)) => return Ok(None),
            base => base?,
        };
        let given = table_of(&base);
        let instead = Instead {
            place: place.number,
            given: &given.name,
            column: SIGN,
        };
        let seen = see_through(self, None, arm)?;
        let over = see_through(self, Some(instead), arm)?;
        if seen.sources.len() != places.len() {
            return Ok(None);
        }
        let mut parameter = numbered.count;
        let has_key = seen.sources[position].has_key("=", &mut parameter);
        let now = first_keys(&seen, numbered, position, has_key)?;
        let before = first_keys(&over, numbered, position, over.sources[position].is_there())?;
        let width = seen.sources[0].key.len();
        let before = match OverImages::new(self, &base, before, width) {
            Err(Stop::Refused(_)) => return Ok(None),
            before => before?,
        };
        let is_found = self.finds(&now)? && self.finds(&before.sql)?;
        Ok(is_found.then(|| Partners {
            now: now.into(),
            before,
        }))
    }

    /// Returns whether SQLite finds the rows of a statement without a look at all rows of a table.
    pub(super) fn finds(&self, sql: &str) -> Result<bool, Stop> {
        let looks_at_all = |step: &String| {
            let is_given = step.contains("VIRTUAL TABLE");
            step.starts_with("SCAN") && !is_given || step.contains("AUTOMATIC")
        };
        Ok(!limit::search(self.connection, sql)?.iter().any(looks_at_all))
    }
}

/// The statement that gives the keys of the first source where the source of this position fulfils a condition.
fn first_keys(
    seen: &Seen<'_>,
    numbered: &Numbered,
    position: usize,
    condition: String,
) -> Result<String, Stop> {
    let keys: Vec<String> = seen.sources[0]
        .key
        .iter()
        .map(|(_, column)| column.clone())
        .collect();
    let present = present_with(&seen.sources[position], &seen.sources).map(Keyed::is_there);
    let conditions: Vec<String> = present.chain([condition]).collect();
    let conditions = conditions.join(" AND ");
    let sql = seen.clauses.of_first_sources(position + 1, &keys, &conditions);
    numbered.by_number(&sql).map_err(Stop::Refused)
}
