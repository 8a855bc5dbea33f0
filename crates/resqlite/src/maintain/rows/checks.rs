//! Checks that a statement, and the statements made from it, allow its result to be maintained.

use resqlite_sqlite::Statement;
use sqlite3_parser::ast::{self, CompoundOperator};

use super::rows_plan::RowsPlan;
use crate::{
    maintain::{
        keyed::{Planner, refuse},
        limit,
        through::{Seen, is_distinct},
    },
    sql::{
        plan::Stop,
        syntax::{self, Refused, Select},
    },
};

/// Checks that a statement is one SELECT, or several that are joined by UNION ALL.
pub(super) fn check_compound(tree: &ast::Select<'_>) -> Result<(), Refused> {
    let compounds = || tree.body.compounds.iter().flatten();
    match () {
        () if compounds().next().is_some() && tree.with.is_some() => {
            Err("it is a compound SELECT with tables of its own")
        }
        () if compounds().any(|compound| compound.operator != CompoundOperator::UnionAll) => {
            Err("it is a compound SELECT, and not by UNION ALL")
        }
        () if is_distinct(&tree.body.select) || compounds().any(|compound| is_distinct(&compound.select)) => {
            Err("it has DISTINCT")
        }
        () => Ok(()),
    }
}

/// Checks that each row of a SELECT comes from one row of each table.
pub(super) fn check_shape(select: &Select) -> Result<(), Stop> {
    let any = |is: fn(&syntax::Arm) -> bool| select.arms.iter().any(is);
    match () {
        () if any(|arm| arm.has_window) => refuse("it has a window function"),
        () if any(|arm| arm.grouped_by.is_some() || arm.has_having) => {
            refuse("one of several SELECTs makes groups")
        }
        () if select.has_subquery() => refuse("it has a subquery"),
        () if any(|arm| arm.sources.is_empty()) => refuse("it reads no table"),
        () => Ok(()),
    }
}

/// Checks that the rows of several arms have one order, which needs no more than their sources.
pub(super) fn check_arms(arms: &[Seen<'_>]) -> Result<(), Refused> {
    for source in arms.iter().flat_map(|arm| &arm.sources) {
        // Where the table has no row, its key would be compared with the key of another arm, column by column.
        if source.is_optional() && source.key.len() > 1 {
            return Err("in several SELECTs, a table behind LEFT JOIN has a key of several columns");
        }
    }
    Ok(())
}

impl Planner<'_> {
    /// Checks that the statements of the plan have the columns of the statement.
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

    /// Checks that a few rows in the order of the plan are found as quickly as in the order of the statement, if the statement
    /// has a LIMIT.
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

    /// Checks that base rows behind other SELECTs are found by their keys.
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
