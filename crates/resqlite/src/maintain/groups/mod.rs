//! How the result of a statement that makes groups is maintained: by what changed rows add to their groups.
//!
//! Each row that fulfils WHERE contributes to one group: the values of the terms of GROUP BY, and the arguments of the
//! aggregates. A changed row takes back what its old image contributed and adds what its new one does. The images are
//! shown to SQLite as a table with the declared types and collations of the base table, so it evaluates the statement's
//! own expressions over them. Where the least value of a group leaves, or the greatest, the rows of this group are read
//! again, if an index finds them. From the values of the aggregates it makes the result in the same way: HAVING, ORDER BY
//! and the columns of the result are evaluated over a table of groups, in which calls of aggregates are columns.
//!
//! ```text
//! SELECT list, sum(n) FROM t WHERE done = ?1 GROUP BY list HAVING count(*) > 1
//!   all            … ORDER BY list
//!   contributions  SELECT 1, list, n FROM t WHERE (done = ?1)
//!   images         SELECT sign, list, n FROM images AS t WHERE (done = ?1)
//!   of_groups      SELECT 1, list, n FROM given CROSS JOIN t WHERE (done = ?1) AND list IS given.g0
//!   output         SELECT list, a0, list FROM groups AS t WHERE (a1 > 1) ORDER BY list
//! ```
//!
//! **Joins.** Let only one table of an inner join have changed between two states. A sum over all rows of the join is a sum
//! over the rows of that table, of what each is joined with in the others, and these are the same in both states. So the
//! difference is what its new images contribute, less what its old ones do, each joined with the other tables as they are
//! now. If several tables have changed, or one that stands in FROM twice, the statement runs as a whole. A column that is no
//! term, of a table whose key is among the terms, is made one: it makes no other groups.

mod calls;
mod groups_plan;
mod maker;
mod planner;
mod rewrite;
mod scope;
mod sources;
mod statements;
mod terms;
mod text;
mod values;

use resqlite_sqlite::Statement;

pub(crate) use self::groups_plan::{GroupsPlan, GroupsSource, OfGroups};
use self::{maker::Maker, planner::Planner, scope::Scope, text::Parts};
use super::{
    base::Base,
    keyed::{refuse, table},
    rows::SOURCES_MAX,
    tools::Tools,
};
use crate::sql::{
    expand::Expander,
    plan::{ArmPlan, Outputs, Place, Rows, Stop},
    syntax::{Join, Output, Refused, Select},
    tables::Table,
};

/// Finds out how the result of a statement can be maintained as groups, or why it cannot; `None` if it makes no groups.
pub(super) fn plan(
    tools: &Tools<'_>,
    sql: &str,
    statement: &Statement,
    tables: &[Table],
) -> crate::core::error::Result<Option<Result<GroupsPlan, Refused>>> {
    match Planner::new(tools, sql, tables).and_then(|planner| match planner {
        Some(planner) => planner.plan(statement).map(Some),
        None => Ok(None),
    }) {
        Ok(plan) => Ok(plan.map(Ok)),
        Err(Stop::Refused(why)) => Ok(Some(Err(why))),
        Err(Stop::Error(error)) => Err(error),
    }
}

impl Planner<'_> {
    fn plan(&self, statement: &Statement) -> Result<GroupsPlan, Stop> {
        if !self.tools.catalog.utf8 {
            return refuse("the database does not store text as UTF-8");
        }
        check_shape(&self.query.select)?;
        self.check_aggregates()?;
        let Tools {
            connection, catalog, ..
        } = self.tools;
        let expanded = Expander::new(connection, catalog, self.tables).statement(&self.query.select)?;
        let arm = &expanded.arms[0];
        let place = match &arm.places[..] {
            [place] => place,
            _ => return self.plan_join(arm, statement),
        };
        let Some(only) = place.only_table() else {
            return refuse("it makes groups of something else than the rows of a table");
        };
        let (table, columns) = table(only, self.tables)?;
        let Some(called) = &place.called else {
            return refuse("a table has no name");
        };
        let mut base = Base::read(connection, &table.name, called, columns)?;
        let mut seen = None;
        if let Rows::Query(_, outputs) = &place.rows {
            base = base.through(named(place, outputs, self.tables)?)?;
            seen = Some(arm);
        }
        let parts = Parts::cut(&self.numbered.sql).map_err(Stop::Refused)?;
        let maker = Maker {
            planner: self,
            parts: &parts,
            scope: &Scope { bases: vec![base] },
            arm,
            seen,
        };
        maker.plan(statement)
    }

    /// A statement that makes groups of rows of several tables: by inner joins, and of each table once, so that a change of
    /// one of them is a change of the sum.
    fn plan_join(&self, arm: &ArmPlan, statement: &Statement) -> Result<GroupsPlan, Stop> {
        let mut bases: Vec<Base<'_>> = Vec::new();
        for place in &arm.places {
            if place.join != Join::Inner || place.is_natural || !place.using.is_empty() {
                return refuse("it makes groups of rows of several tables, not by inner joins with ON");
            }
            let (table, columns) = table(place, self.tables)?;
            if bases.iter().any(|base| *base.name == table.name) {
                return refuse("it makes groups of a table that is joined with itself");
            }
            let Some(called) = &place.called else {
                return refuse("a table has no name");
            };
            bases.push(Base::read(self.tools.connection, &table.name, called, columns)?);
        }
        if bases.len() > SOURCES_MAX {
            return refuse("it joins too many tables");
        }
        let parts = Parts::cut(&self.numbered.sql).map_err(Stop::Refused)?;
        let maker = Maker {
            planner: self,
            parts: &parts,
            scope: &Scope { bases },
            arm,
            seen: None,
        };
        maker.plan(statement)
    }
}

/// The columns of a SELECT in FROM, and which of its only table they are.
fn named(place: &Place, outputs: &Outputs, tables: &[Table]) -> Result<Vec<(String, Option<u16>)>, Stop> {
    let named = outputs.columns.iter().map(|column| {
        let name = column.name.clone()?;
        let of_table = place.column_called(&name, tables);
        Some((name, of_table))
    });
    match named.collect::<Option<Vec<_>>>() {
        Some(named) if !outputs.is_open => Ok(named),
        _ => refuse("it reads something whose columns have no names"),
    }
}

fn check_shape(select: &Select) -> Result<(), Stop> {
    let arm = &select.arms[0];
    let has_subquery = !select.with.is_empty()
        || !select.subqueries.is_empty()
        || !arm.subqueries.is_empty()
        || !arm.terms.subqueries.is_empty();
    match () {
        () if arm.has_window => refuse("it has a window function"),
        () if has_subquery => refuse("it has a subquery"),
        () if arm.sources.is_empty() => refuse("it reads no table"),
        () if arm.outputs.iter().any(|output| matches!(output, Output::Star(_))) => {
            refuse("it makes groups of all columns")
        }
        () => Ok(()),
    }
}
