//! Maintenance of the result of a live query: by the rows that it has, by groups, or by running it again.
//!
//! ```text
//! analyse ─ sql       what the statement reads
//!         ─ groups    how its result is maintained, if it makes groups
//!         ─ rows      how it is maintained, if each of its rows comes from one row of each table
//! ```

mod base;
mod clauses;
mod explain;
pub(crate) mod given_tables;
mod groups;
mod images;
mod keyed;
mod limit;
mod parsed;
mod partners;
mod rows;
#[cfg(test)]
pub(crate) mod tests;
mod through;

use std::sync::Arc;

use resqlite_sqlite::{Connection, Statement};
use sqlite3_parser::Bump;

pub use explain::{Explanation, MaintenanceExplanation};
pub(crate) use groups::{GroupsPlan, GroupsSource, OfGroups};
pub(crate) use images::OverImages;
pub(crate) use limit::Limit;
pub(crate) use partners::Partners;
pub(crate) use rows::{Absence, RowsPlan, Source};

use self::{
    given_tables::GivenTables,
    keyed::{Planner, refuse},
    parsed::Parsed,
};
use crate::{
    core::{error::Result, params::Params},
    guard::Guard,
    sql::{self, StatementReads, catalog::Catalog, parse::Tree, plan::Stop, syntax::Refused, tokens},
};

/// The dependencies of a statement, before its parameters have values. Made once per prepared statement.
#[derive(Debug, PartialEq)]
pub(crate) struct StatementDependencies {
    pub(crate) reads: StatementReads,
    /// The plan by which the result is maintained, or why it is not.
    maintenance: std::result::Result<MaintenancePlan, Refused>,
}

/// The plan by which a result is maintained.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MaintenancePlan {
    /// By the base rows that its rows come from.
    Rows(Arc<RowsPlan>),
    /// By the groups to which base rows contribute.
    Groups(Arc<GroupsPlan>),
}

/// Finds what `sql`, one statement, depends on. Call it in an open read transaction.
///
/// # Errors
/// Errors of SQLite when it prepares the statement or reads the schema.
pub(crate) fn analyse(
    connection: &Connection,
    guard: &Guard,
    given: &GivenTables,
    sql: &str,
) -> Result<StatementDependencies> {
    // First of all, because it brings the connection's own idea of the schema up to date.
    let catalog = guard.as_internal(|| Catalog::read(connection))?;
    let (reads, statement) = sql::read(connection, guard, &catalog, sql)?;
    let plan = || {
        let planner = Planner {
            connection,
            guard,
            given,
            catalog: &catalog,
            tables: reads.tables().map_err(Stop::Refused)?,
        };
        plan(&planner, sql, &statement, &reads)
    };
    let maintenance = match guard.as_internal(plan) {
        Ok(plan) => Ok(plan),
        Err(Stop::Refused(why)) => Err(why),
        Err(Stop::Error(error)) => return Err(error),
    };
    Ok(StatementDependencies { reads, maintenance })
}

fn plan(
    planner: &Planner<'_>,
    sql: &str,
    statement: &Statement,
    reads: &StatementReads,
) -> std::result::Result<MaintenancePlan, Stop> {
    if reads.is_volatile() {
        return refuse("it calls a function whose result can change although no row does");
    }
    let (bump, numbered) = (Bump::new(), tokens::number(sql).map_err(Stop::Refused)?);
    let tree = Tree::of(&bump, &numbered).map_err(Stop::Refused)?;
    let parsed = Parsed {
        sql,
        numbered: &numbered,
        tree: tree.select,
        select: &tree.read().map_err(Stop::Refused)?.select,
    };
    if let Some(groups) = groups::plan(planner, &parsed, statement)? {
        return Ok(MaintenancePlan::Groups(Arc::new(groups)));
    }
    let rows = planner.rows(&parsed, statement)?;
    Ok(MaintenancePlan::Rows(Arc::new(rows)))
}

impl StatementDependencies {
    /// The plan by which the result is maintained, or why it is not.
    pub(crate) fn maintenance(&self) -> std::result::Result<&MaintenancePlan, Refused> {
        self.maintenance.as_ref().map_err(|why| *why)
    }

    /// The dependencies of a run of the statement with these parameters, for people.
    pub(crate) fn explain(
        &self,
        connection: &Connection,
        statement: &Statement,
        params: &Params,
    ) -> Explanation {
        let (tables, unknown) = match self.reads.explain(connection, statement, params) {
            Ok(tables) => (tables, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        Explanation {
            unknown,
            tables,
            volatile: self.reads.volatile.clone(),
            maintenance: match &self.maintenance {
                Ok(MaintenancePlan::Rows(plan)) if plan.limit.is_some() => MaintenanceExplanation::Window {
                    statement: plan.all.to_string(),
                },
                Ok(MaintenancePlan::Rows(plan)) => MaintenanceExplanation::Rows {
                    statement: plan.all.to_string(),
                },
                Ok(MaintenancePlan::Groups(plan)) => {
                    let statement = plan.all.to_string();
                    match plan.is_grouped {
                        true => MaintenanceExplanation::Groups { statement },
                        false => MaintenanceExplanation::Aggregates { statement },
                    }
                }
                Err(why) => MaintenanceExplanation::Rerun((*why).to_owned()),
            },
        }
    }
}
