//! What must be true of a statement, and of what is made of it, for its result to be maintained.

use resqlite_sqlite::Statement;

use super::{arm::Arm, rows_plan::RowsPlan};
use crate::{
    maintain::{
        keyed::{Planner, refuse},
        limit,
    },
    sql::{
        plan::Stop,
        syntax::{Refused, Select, Terms},
    },
};

/// Whether each row of a SELECT comes from one row of each table.
pub(super) fn check_shape(select: &Select) -> Result<(), Stop> {
    let [arm] = &select.arms[..] else {
        return refuse("it is a compound SELECT");
    };
    let has_subquery = !select.subqueries.is_empty() || !arm.subqueries.is_empty();
    let in_terms = |terms: &Terms| !terms.subqueries.is_empty();
    match () {
        () if arm.has_window => refuse("it has a window function"),
        () if arm.grouped_by.is_some() || arm.has_having => refuse("one of several SELECTs makes groups"),
        () if has_subquery
            || in_terms(&arm.terms)
            || arm.sources.iter().any(|source| in_terms(&source.on)) =>
        {
            refuse("it has a subquery")
        }
        () if arm.sources.is_empty() => refuse("it reads no table"),
        () => Ok(()),
    }
}

/// Whether the rows of several arms have one order, which needs no more than their sources.
pub(super) fn check_arms(arms: &[Arm<'_>]) -> Result<(), Refused> {
    for source in arms.iter().flat_map(|arm| arm.sources) {
        // Where it has no row, it would be compared with that of another arm column by column.
        if source.is_optional() && source.key.len() > 1 {
            return Err("in several SELECTs, a table behind LEFT JOIN has a key of several columns");
        }
    }
    Ok(())
}

impl Planner<'_> {
    /// Whether the result has the columns of the statement.
    pub(super) fn check_columns(&self, plan: &RowsPlan, statement: &Statement) -> Result<(), Stop> {
        let first = plan.limit.iter().map(|limit| &limit.first);
        let some = plan.sources.iter().map(|source| &source.some);
        for sql in [&plan.all, &plan.one].into_iter().chain(first).chain(some) {
            let Ok(prepared) = self.connection.prepare(sql, false) else {
                return refuse("its parts cannot be asked for");
            };
            let Some(made) = prepared.statement else {
                return refuse("its parts cannot be asked for");
            };
            let is_same = |column| made.column_name(column) == statement.column_name(column);
            if made.column_count() != plan.width || !(0..plan.columns).all(is_same) {
                return refuse("its parts have other columns");
            }
        }
        Ok(())
    }

    /// Whether a few rows in the order of the plan are found as quickly as in any order.
    pub(super) fn check_search(&self, plan: &RowsPlan, sql: &str) -> Result<(), Stop> {
        let Some(limit) = &plan.limit else {
            return Ok(());
        };
        for other in [&plan.all, &limit.first] {
            if !limit::is_same_search(self.connection, sql, other)? {
                return refuse(limit::ANOTHER_SEARCH);
            }
        }
        Ok(())
    }

    /// Whether base rows behind other SELECTs are found by their keys.
    pub(super) fn check_keys(&self, plan: &RowsPlan) -> Result<(), Stop> {
        for sql in plan
            .sources
            .iter()
            .map(|source| &source.some)
            .chain([&plan.one, &plan.all])
        {
            let steps = limit::search(self.connection, sql)?;
            let begins = |with: &str| steps.iter().any(|step| step.starts_with(with));
            let is_apart = begins("MATERIALIZE") || begins("CO-ROUTINE");
            let is_found = begins("SEARCH") || *sql == plan.all;
            if is_apart || !is_found {
                return refuse("SQLite reads a SELECT in FROM apart");
            }
        }
        Ok(())
    }
}
