//! How the result of a statement is maintained: the statements that ask for some of its rows again.
//!
//! Each row of a plain SELECT comes from one row of each table in FROM. So the row gets the keys of those base rows as
//! further columns, and with them the values that it is ordered by. When base rows have changed, the rows that came from
//! them are dropped, and the same SELECT with one more condition, the key of a changed base row, returns those that are
//! there now. SQLite evaluates everything.
//!
//! Rows whose values of ORDER BY are equal come in the order of the keys of their base rows, in the direction of the last
//! term: an index serves that. So the order is total, and a row has one place in it.
//!
//! Of a UNION ALL, each arm is such a SELECT. All have the same columns: the number of the arm stands behind the keys, and
//! where one is asked for rows, the others give none. A row that comes from one arm has no base rows of the others.
//!
//! With a LIMIT, the first rows of that order are kept, more than are shown; see [`KeptWindow`](resqlite_live::KeptWindow).

mod arm;
mod checks;
mod left_joins;
mod names;
mod order;
mod rows_plan;
mod statements;

use resqlite_sqlite::Statement;

pub(super) use self::order::ordered_by;
pub(crate) use self::rows_plan::{Absence, RowsPlan, Source};
use self::{
    arm::Arm,
    checks::{check_arms, check_shape},
    left_joins::{partners_decide, partners_order},
};
use super::{
    clauses::{Clauses, arms},
    keyed::{Keyed, Planner, refuse},
    limit,
    partners::{self, PARTNERS_DECIDE},
    through::{Seen, see_through},
    tools::Tools,
};
use crate::sql::{
    expand::Expander,
    parse::{self, Query},
    plan::{Plan, Stop},
    syntax::Refused,
    tables::Table,
    tokens,
};

/// The tables in FROM, at most.
pub(super) const SOURCES_MAX: usize = 8;

/// Finds out how the result of a statement can be maintained, or why it cannot.
pub(super) fn plan(
    tools: &Tools<'_>,
    sql: &str,
    statement: &Statement,
    tables: &[Table],
) -> crate::core::error::Result<Result<RowsPlan, Refused>> {
    match Planner::new(tools, tables).plan(sql, statement) {
        Ok(plan) => Ok(Ok(plan)),
        Err(Stop::Refused(why)) => Ok(Err(why)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// One SELECT of a statement: its text, and what it reads.
struct ArmText {
    query: Query,
    plan: Plan,
}

impl Planner<'_> {
    fn plan(&self, sql: &str, statement: &Statement) -> Result<RowsPlan, Stop> {
        if !self.catalog.utf8 {
            return refuse("the database does not store text as UTF-8");
        }
        let numbered = tokens::number(sql).map_err(Stop::Refused)?;
        let texts = arms(&numbered.sql).map_err(Stop::Refused)?;
        let read: Vec<ArmText> = texts
            .iter()
            .map(|text| self.read(text))
            .collect::<Result<_, _>>()?;
        let seen: Vec<Seen<'_>> = texts
            .iter()
            .zip(&read)
            .map(|(text, arm)| see_through(self, text, &arm.query.select, &arm.plan.arms[0]))
            .collect::<Result<_, _>>()?;
        let mut arms: Vec<Arm<'_>> = seen
            .iter()
            .zip(&read)
            .map(|(seen, arm)| self.cut(seen, arm))
            .collect::<Result<_, _>>()?;
        if arms.iter().map(|arm| arm.sources.len()).sum::<usize>() > SOURCES_MAX {
            return refuse("it joins too many tables");
        }
        let is_limited = arms[arms.len() - 1].clauses.limit.is_some();
        for ((text, read), arm) in texts.iter().zip(&read).zip(&mut arms) {
            let sql = numbered.by_number(text).map_err(Stop::Refused)?;
            let text = partners::Text {
                sql: &sql,
                select: &read.query.select,
                arm: &read.plan.arms[0],
                parameters: numbered.count,
            };
            arm.absences = self.absences(arm, &text, is_limited, texts.len() > 1)?;
        }
        let last = &arms[arms.len() - 1];
        if seen.iter().any(|seen| seen.is_ordered_inside) && last.clauses.order.is_empty() {
            return refuse("the order is that of a SELECT that it reads");
        }
        let bounds = last.clauses.limit.map(|clause| limit::bounds(clause, &numbered));
        let bounds = bounds.transpose().map_err(Stop::Refused)?;
        if arms.len() > 1 {
            check_arms(&arms).map_err(Stop::Refused)?;
        }
        let made = self.put_together(&arms, bounds, numbered.count, statement)?;
        self.check_columns(&made, statement)?;
        self.check_search(&made, sql)?;
        let reads_through = |arm: &Arm<'_>| {
            arm.sources.len() > arm.places.len() || arm.sources.iter().any(|source| !source.is_plain())
        };
        if arms.iter().any(reads_through) {
            self.check_keys(&made)?;
        }
        Ok(made)
    }

    fn read(&self, sql: &str) -> Result<ArmText, Stop> {
        let query = parse::parse(sql).map_err(Stop::Refused)?;
        check_shape(&query.select)?;
        let plan = Expander::new(self.connection, self.catalog, self.tables).statement(&query.select)?;
        self.check_functions(&plan.arms[0])?;
        Ok(ArmText { query, plan })
    }

    fn cut<'s>(&'s self, seen: &'s Seen<'s>, arm: &'s ArmText) -> Result<Arm<'s>, Stop> {
        Ok(Arm {
            clauses: Clauses::cut(&seen.sql).map_err(Stop::Refused)?,
            select: &arm.query.select,
            places: &arm.plan.arms[0].places,
            sources: &seen.sources,
            absences: Vec::new(),
        })
    }

    /// Which sources may have no row, and how rows are found that were joined with them.
    fn absences(
        &self,
        arm: &Arm<'_>,
        text: &partners::Text<'_>,
        is_limited: bool,
        is_compound: bool,
    ) -> Result<Vec<Absence>, Stop> {
        let named = self.named(arm);
        let decide = partners_decide(&arm.clauses, &named).map_err(Stop::Refused)?
            || is_limited && (is_compound || partners_order(&arm.clauses, &named));
        if decide && arm.sources.len() != arm.places.len() {
            return refuse(PARTNERS_DECIDE);
        }
        let absence = |(position, source): (usize, &Keyed<'_>)| {
            Ok(match () {
                () if !source.is_optional() => Absence::Never,
                () if !decide => Absence::Kept,
                () => match self.partners(text, position)? {
                    Some(partners) => Absence::Asked(Box::new(partners)),
                    None => Absence::Unknown,
                },
            })
        };
        arm.sources.iter().enumerate().map(absence).collect()
    }
}
