//! Maintenance of the result of a statement: the statements that ask for some of its rows again.
//!
//! Each row of a plain SELECT comes from one row of each table in FROM. So the row gets the keys of those base rows as further
//! columns, and with them the values that it is ordered by. When base rows have changed, the rows that came from them are
//! dropped, and the same SELECT with one more condition, the key of a changed base row, returns the rows that are there now.
//! SQLite evaluates everything.
//!
//! Rows with equal values of ORDER BY are in the order of the keys of their base rows, in the direction of the last term: an
//! index can serve that. So the order is total, and a row has one place in it.
//!
//! In a UNION ALL, each arm is such a SELECT. All arms have the same columns, with the number of the arm behind the keys. When
//! one arm is asked for rows, the others give none. A row that comes from one arm has no base rows of the others.
//!
//! With a LIMIT, the first rows of that order are kept, more than are shown; see [`KeptWindow`](resqlite_live::KeptWindow).

mod checks;
mod left_joins;
mod names;
mod order;
mod rows_plan;
mod statements;

use resqlite_sqlite::Statement;

pub(super) use self::order::{Ordered, ordered_by};
pub(crate) use self::rows_plan::{Absence, RowsPlan, Source};
use self::{
    checks::{check_arms, check_compound, check_shape},
    left_joins::{partners_decide, partners_order},
};
use super::{
    clauses::Term,
    keyed::{Keyed, Planner, refuse},
    limit,
    parsed::Parsed,
    partners::PARTNERS_DECIDE,
    through::{Seen, see_through},
};
use crate::sql::{expand::Expander, plan::Stop, tokens::Numbered};

/// The most tables in FROM.
pub(super) const SOURCES_MAX: usize = 8;

impl Planner<'_> {
    /// Finds out how the result of a statement can be maintained by the rows that its rows come from.
    ///
    /// # Errors
    /// The reason why it cannot be maintained.
    pub(super) fn rows(&self, parsed: &Parsed<'_>, statement: &Statement) -> Result<RowsPlan, Stop> {
        if !self.catalog.utf8 {
            return refuse("the database does not store text as UTF-8");
        }
        let Parsed {
            sql,
            numbered,
            tree,
            select,
        } = *parsed;
        check_compound(tree).map_err(Stop::Refused)?;
        check_shape(select)?;
        let plan = Expander::new(self.connection, self.catalog, self.tables).statement(select)?;
        for arm in &plan.arms {
            self.check_functions(arm)?;
        }
        let arms = parsed.arms(&plan.arms).map(|arm| see_through(self, None, arm));
        let mut arms: Vec<Seen<'_>> = arms.collect::<Result<_, _>>()?;
        let name = |column| statement.column_name(column);
        let outputs = &select.arms[0].outputs;
        arms[0]
            .clauses
            .keep_names(sql, outputs, statement.column_count(), name);
        if arms.iter().map(|arm| arm.sources.len()).sum::<usize>() > SOURCES_MAX {
            return refuse("it joins too many tables");
        }
        let order = tree.order_by.unwrap_or_default().iter().map(Term::read);
        let order: Vec<Term<'_>> = order.collect::<Result<_, _>>().map_err(Stop::Refused)?;
        let limit = tree.limit.map(|limit| limit::Clause::of(limit, numbered));
        let is_compound = arms.len() > 1;
        let absences = arms.iter();
        let absences = absences.map(|arm| self.absences(arm, numbered, &order, limit.is_some(), is_compound));
        let absences: Vec<Vec<Absence>> = absences.collect::<Result<_, _>>()?;
        if arms.iter().any(|arm| arm.is_ordered_inside) && order.is_empty() {
            return refuse("the order is that of a SELECT that it reads");
        }
        if is_compound {
            check_arms(&arms).map_err(Stop::Refused)?;
        }
        let made = self.put_together(&arms, &absences, &order, limit.as_ref(), numbered, statement)?;
        self.check_columns(&made, statement)?;
        self.check_search(&made, sql)?;
        let reads_through = |arm: &Seen<'_>| {
            arm.sources.len() > arm.places().len() || arm.sources.iter().any(|source| !source.is_plain())
        };
        if arms.iter().any(reads_through) {
            self.check_keys(&made)?;
        }
        Ok(made)
    }

    /// Returns, for each source, whether it may have no row, and how the rows that were joined with it are found.
    fn absences(
        &self,
        arm: &Seen<'_>,
        numbered: &Numbered,
        order: &[Term<'_>],
        is_limited: bool,
        is_compound: bool,
    ) -> Result<Vec<Absence>, Stop> {
        let named = self.named(arm);
        let decide = partners_decide(arm.one.tree, &named).map_err(Stop::Refused)?
            || is_limited && (is_compound || partners_order(order, &named));
        if decide && arm.sources.len() != arm.places().len() {
            return refuse(PARTNERS_DECIDE);
        }
        let absence = |(position, source): (usize, &Keyed<'_>)| {
            Ok(match () {
                () if !source.is_optional() => Absence::Never,
                () if !decide => Absence::Kept,
                () => match self.partners(arm.one, numbered, position)? {
                    Some(partners) => Absence::Asked(Box::new(partners)),
                    None => Absence::Unknown,
                },
            })
        };
        arm.sources.iter().enumerate().map(absence).collect()
    }
}
