//! Maintenance of the result of a statement that makes groups: by the contributions of changed rows to their groups.
//!
//! Each row that fulfils WHERE contributes to one group: the values of the terms of GROUP BY, and the arguments of the
//! aggregates. A changed row takes back what its old image contributed and adds what its new one does. The images are shown to
//! SQLite as a table with the declared types and collations of the base table, so it evaluates the statement's own expressions
//! over them. Where the least or the greatest value of a group is removed, the rows of this group are read again, if an index
//! finds them. From the values of the aggregates SQLite makes the result in the same way: HAVING, ORDER BY and the columns of
//! the result are evaluated over a table of groups, in which calls of aggregates are columns.
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
//! **Joins.** Suppose that only one table of an inner join has changed between two states. A sum over all rows of the join is a
//! sum over the rows of that table: each adds what it gives when it is joined with the other tables. These are the same in both
//! states. So the difference is what the table's new images contribute, less what its old images contribute, each joined with
//! the other tables as they are now. If several tables have changed, or a table that stands in FROM twice, the statement runs
//! as a whole. If the key of a table is among the terms, any other column of that table that is used beside aggregates is made
//! a term, too: that does not change the groups.

mod calls;
mod groups_plan;
mod maker;
mod parts;
mod rewrite;
mod scope;
mod sources;
mod statements;
mod terms;
mod values;

use resqlite_sqlite::{Connection, Statement};

pub(crate) use self::groups_plan::{GroupsPlan, GroupsSource, OfGroups};
use self::{calls::aggregates, maker::Maker, parts::Parts, scope::Scope};
use super::{
    base::Base,
    keyed::{Planner, refuse, table},
    parsed::Parsed,
    rows::SOURCES_MAX,
};
use crate::sql::{
    expand::Expander,
    plan::{ArmPlan, Outputs, Place, Rows, Stop},
    syntax::{Join, Output, Select},
    tables::Table,
};

/// Finds out how the result of a statement can be maintained as groups; `None` if it makes no groups.
///
/// # Errors
/// The reason why it cannot be maintained.
pub(super) fn plan(
    planner: &Planner<'_>,
    parsed: &Parsed<'_>,
    statement: &Statement,
) -> Result<Option<GroupsPlan>, Stop> {
    let Some(aggregates) = aggregates(planner.catalog, parsed)? else {
        return Ok(None);
    };
    let Planner {
        connection,
        catalog,
        tables,
        ..
    } = *planner;
    if !catalog.utf8 {
        return refuse("the database does not store text as UTF-8");
    }
    check_shape(parsed.select)?;
    for aggregate in &aggregates {
        if !catalog.is_builtin(aggregate)? {
            return refuse("it calls an aggregate of its own");
        }
    }
    let expanded = Expander::new(connection, catalog, tables).statement(parsed.select)?;
    let Some(one) = parsed.arms(&expanded.arms).next() else {
        return Ok(None);
    };
    let maker = Maker {
        planner,
        parsed,
        aggregates: &aggregates,
        parts: &Parts::of(parsed).map_err(Stop::Refused)?,
        scope: &Scope {
            bases: bases(connection, one.plan, tables)?,
        },
        one,
    };
    maker.plan(statement).map(Some)
}

/// The tables whose rows make groups: one, perhaps read through SELECTs, or several. Several tables are joined by inner joins,
/// and each appears once, so that a change of one table is a change of the sum.
fn bases<'a>(connection: &Connection, arm: &ArmPlan, tables: &'a [Table]) -> Result<Vec<Base<'a>>, Stop> {
    let is_join = arm.places.len() > 1;
    let mut bases: Vec<Base<'_>> = Vec::new();
    for place in &arm.places {
        if is_join && (place.join != Join::Inner || place.is_natural || !place.using.is_empty()) {
            return refuse("it makes groups of rows of several tables, not by inner joins with ON");
        }
        let Some(only) = (if is_join { Some(place) } else { place.only_table() }) else {
            return refuse("it makes groups of something else than the rows of a table");
        };
        let (table, columns) = table(only, tables)?;
        if bases.iter().any(|base| *base.name == table.name) {
            return refuse("it makes groups of a table that is joined with itself");
        }
        let Some(called) = &place.called else {
            return refuse("a table has no name");
        };
        let base = Base::read(connection, &table.name, called, columns)?;
        bases.push(match &place.rows {
            Rows::Query(_, outputs) => base.through(named(place, outputs, tables)?)?,
            _ => base,
        });
    }
    if bases.len() > SOURCES_MAX {
        return refuse("it joins too many tables");
    }
    Ok(bases)
}

/// Returns the columns of a SELECT in FROM, each with the column of the SELECT's only table that it is, if it is one.
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
    match () {
        () if arm.has_window => refuse("it has a window function"),
        () if !select.with.is_empty() || select.has_subquery() => refuse("it has a subquery"),
        () if arm.sources.is_empty() => refuse("it reads no table"),
        () if arm.outputs.iter().any(|output| matches!(output, Output::Star(_))) => {
            refuse("it makes groups of all columns")
        }
        () => Ok(()),
    }
}
