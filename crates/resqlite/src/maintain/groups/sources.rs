//! The sources behind FROM.

use sqlite3_parser::dialect::TokenType::{TK_CAST, TK_COLLATE};

use super::maker::Maker;
use crate::{
    maintain::{
        base::Base,
        given_tables::GivenTable,
        images::{OverImages, SIGN, table_of},
        keyed::refuse,
        through::{Instead, see_through},
    },
    sql::{
        plan::{Place, Rows, Stop},
        tokens::has,
    },
};

/// The texts behind FROM.
pub(super) struct Sources {
    pub(super) rows: String,
    /// For each table, the text with the table's images in its place, and the name of the column of their sign.
    pub(super) images: Vec<(String, String)>,
    pub(super) groups: String,
}

impl Maker<'_> {
    /// The statement that reads the contributions of images of a table. `None` if there is no such statement: then the query
    /// runs as a whole after a change of the table. If it is the only table, that is an error.
    pub(super) fn over_images(
        &self,
        base: &Base<'_>,
        sql: String,
        columns: usize,
    ) -> Result<Option<OverImages>, Stop> {
        let over = match OverImages::new(self.planner, base, sql, columns) {
            Err(Stop::Refused(_)) if self.scope.only().is_none() => return Ok(None),
            over => over?,
        };
        let is_found = self.scope.only().is_some() || self.planner.finds(&over.sql)?;
        Ok(is_found.then_some(over))
    }

    pub(super) fn sources(
        &self,
        groups: &GivenTable,
        more: impl Iterator<Item = String>,
    ) -> Result<Sources, Stop> {
        let numbered = self.parsed.numbered;
        let by_number = |from: &str| numbered.by_number(from).map_err(Stop::Refused);
        let is_seen = |place: &Place| !matches!(place.rows, Rows::Table(_));
        let mut images = Vec::new();
        for (position, (place, base)) in self.one.plan.places.iter().zip(&self.scope.bases).enumerate() {
            let (given, only) = (table_of(base), place.only_table().unwrap_or(place));
            let instead = Instead {
                place: only.number,
                given: &given.name,
                column: SIGN,
            };
            let seen = see_through(self.planner, Some(instead), self.one)?;
            let from = seen.clauses.from.concat();
            if is_seen(place) && has(&from, TK_COLLATE) {
                return refuse("it reads something whose collation is not known");
            }
            // A column of the groups does not know which values compare as texts and which as numbers.
            if is_seen(place) && has(&from, TK_CAST) {
                return refuse("it reads a CAST");
            }
            images.push((by_number(&from)?, seen.sources[position].key[0].1.clone()));
        }
        Ok(Sources {
            rows: by_number(&self.parts.from)?,
            images,
            groups: match self.scope.only() {
                None => groups.name.to_string(),
                Some(base) if is_seen(&self.one.plan.places[0]) => base.seen_groups(groups, more),
                Some(base) => format!("{} AS {}", groups.name, base.called),
            },
        })
    }
}
