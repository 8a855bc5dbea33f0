//! What stands behind FROM.

use sqlite3_parser::dialect::TokenType::*;

use super::{maker::Maker, text::Parts};
use crate::{
    maintain::{
        base::Base,
        clauses::tokens,
        given_tables::GivenTable,
        images::{OverImages, SIGN, table_of},
        keyed::{Planner as Reader, refuse},
        through::{with_given, with_given_at},
    },
    sql::plan::Stop,
};

/// What stands behind FROM.
pub(super) struct Sources {
    pub(super) rows: String,
    /// For each table, what stands there with its images, and how the sign of these is named.
    pub(super) images: Vec<(String, String)>,
    pub(super) groups: String,
}

impl Maker<'_> {
    /// What images of a table contribute. `None` if that cannot be found out: then a change of it makes the statement run as a
    /// whole, unless it is the only table.
    pub(super) fn over_images(
        &self,
        base: &Base<'_>,
        sql: String,
        columns: usize,
    ) -> Result<Option<OverImages>, Stop> {
        let over = match OverImages::new(self.planner.tools, base, sql, columns) {
            Err(Stop::Refused(_)) if self.scope.only().is_none() => return Ok(None),
            over => over?,
        };
        let reader = Reader::new(self.planner.tools, self.planner.tables);
        let is_found = self.scope.only().is_some() || reader.finds(&over.sql)?;
        Ok(is_found.then_some(over))
    }

    pub(super) fn sources(
        &self,
        groups: &GivenTable,
        more: impl Iterator<Item = String>,
    ) -> Result<Sources, Stop> {
        let Some(base) = self.scope.only() else {
            return self.sources_of_join(groups);
        };
        let images = table_of(base);
        let Some(arm) = self.seen else {
            return Ok(Sources {
                rows: self.parts.from.to_owned(),
                images: vec![(from(&images, base), SIGN.to_owned())],
                groups: from(groups, base),
            });
        };
        let planner = Reader::new(self.planner.tools, self.planner.tables);
        let (sql, query) = (&self.planner.numbered.sql, &self.planner.query);
        let (sql, sign) = with_given(&planner, (&images.name, SIGN), sql, &query.select, arm)?;
        let seen = Parts::cut(&sql).map_err(Stop::Refused)?;
        let tokens = tokens(seen.from).map_err(Stop::Refused)?;
        let has = |kind| tokens.iter().any(|token| token.kind == kind);
        if has(TK_COLLATE) {
            return refuse("it reads something whose collation is not known");
        }
        // Which values compare as texts and which as numbers, a column of the groups does not know.
        if has(TK_CAST) {
            return refuse("it reads a CAST");
        }
        Ok(Sources {
            rows: self
                .rewriter()
                .of_row(self.parts.from)
                .map_err(Stop::Refused)?
                .sql,
            images: vec![(
                self.rewriter().of_row(seen.from).map_err(Stop::Refused)?.sql,
                sign,
            )],
            groups: base.seen_groups(groups, more),
        })
    }

    fn sources_of_join(&self, groups: &GivenTable) -> Result<Sources, Stop> {
        let reader = Reader::new(self.planner.tools, self.planner.tables);
        let (sql, query) = (&self.planner.numbered.sql, &self.planner.query);
        let by_number = |from: &str| {
            let sql = self.planner.numbered.by_number(from);
            sql.map_err(Stop::Refused)
        };
        let mut images = Vec::new();
        for (position, base) in self.scope.bases.iter().enumerate() {
            let (given, number) = (table_of(base), self.arm.places[position].number);
            let at = (number, &*given.name, SIGN);
            let seen = with_given_at(&reader, at, sql, &query.select, self.arm)?;
            let from = by_number(Parts::cut(&seen.sql).map_err(Stop::Refused)?.from)?;
            images.push((from, format!("{}.{SIGN}", base.called)));
        }
        Ok(Sources {
            rows: by_number(self.parts.from)?,
            images,
            groups: groups.name.to_string(),
        })
    }
}

fn from(table: &GivenTable, base: &Base<'_>) -> String {
    format!("{} AS {}", table.name, base.called)
}
