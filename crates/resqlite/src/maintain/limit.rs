//! LIMIT and OFFSET of a statement whose result is maintained.

use std::sync::Arc;

use resqlite_sqlite::Connection;
use sqlite3_parser::ast::{self, Expr, Literal, Operator, UnaryOperator};

use super::clauses::{integer, printed};
use crate::{
    core::error::Result,
    sql::{syntax::Refused, tokens::Numbered},
};

/// The statements that a LIMIT adds to those that maintain a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limit {
    /// One row: the values of LIMIT and OFFSET.
    pub(crate) bounds: Arc<str>,
    /// The first rows, in order. The parameter behind those of the statement says how many.
    pub(crate) first: Arc<str>,
}

/// LIMIT and OFFSET of a statement.
pub(super) struct Clause<'t> {
    limit: &'t Expr<'t>,
    offset: Option<&'t Expr<'t>>,
    /// `LIMIT 5, 10`
    offset_first: bool,
}

const UNCERTAIN: Refused = "its LIMIT is more than numbers and parameters";

impl<'t> Clause<'t> {
    pub(super) fn of(tree: &'t ast::Limit<'t>, numbered: &Numbered) -> Self {
        let (limit, offset) = match &tree.offset {
            Some(second) if numbered.offset_first => (second, Some(&tree.expr)),
            offset => (&tree.expr, offset.as_ref()),
        };
        Self {
            limit,
            offset,
            offset_first: numbered.offset_first,
        }
    }

    /// The clause as text, in the same order: parameters with names are numbered where they come first.
    pub(super) fn text(&self) -> String {
        let limit = printed(self.limit);
        match self.offset.map(printed) {
            Some(offset) if self.offset_first => format!("LIMIT {offset}, {limit}"),
            Some(offset) => format!("LIMIT {limit} OFFSET {offset}"),
            None => format!("LIMIT {limit}"),
        }
    }

    /// Returns the statement for the values of LIMIT and OFFSET.
    ///
    /// # Errors
    /// The reason why these values may depend on more than parameters.
    pub(super) fn bounds(&self, numbered: &Numbered) -> std::result::Result<String, Refused> {
        if !is_known(self.limit) || !self.offset.is_none_or(is_known) {
            return Err(UNCERTAIN);
        }
        let offset = self.offset.map_or_else(|| "0".to_owned(), printed);
        numbered.by_number(&format!("SELECT ({}), ({offset})", printed(self.limit)))
    }
}

/// Returns whether an expression is made of numbers and parameters.
fn is_known(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Variable(_) => true,
        Expr::Literal(Literal::Numeric(text)) => integer(text).is_some(),
        Expr::Parenthesized(inner) => inner.len() == 1 && is_known(&inner[0]),
        Expr::Unary(UnaryOperator::Negative | UnaryOperator::Positive, inner) => is_known(inner),
        Expr::Binary(
            left,
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide,
            right,
        ) => is_known(left) && is_known(right),
        _ => false,
    }
}

/// The reason for refusing a statement for which [`is_same_search`] is false.
pub(super) const ANOTHER_SEARCH: &str = "in an order that leaves no rows equal, its rows would have to be found in another way; end \
     ORDER BY with the primary key, or make an index that gives the order";

/// Returns whether SQLite finds the rows of two statements in the same way, and sorts both or neither. If so, further terms of
/// ORDER BY in one of them cost next to nothing.
///
/// # Errors
/// Errors of SQLite.
pub(super) fn is_same_search(connection: &Connection, one: &str, other: &str) -> Result<bool> {
    Ok(search(connection, one)? == search(connection, other)?)
}

/// The steps by which SQLite finds the rows of a statement.
///
/// # Errors
/// Errors of SQLite.
pub(super) fn search(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let mut steps = Vec::new();
    let Some(mut plan) = connection.prepare(&explain, false)?.statement else {
        return Ok(steps);
    };
    while plan.step()? {
        let step = plan.column_text(3).unwrap_or_default();
        // The text of the step says how many terms are left to sort by.
        let is_partly_sorted = step.starts_with("USE TEMP B-TREE FOR LAST");
        steps.push(if is_partly_sorted { "SORT".into() } else { step });
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use sqlite3_parser::Bump;

    use super::Clause;
    use crate::sql::{parse::Tree, tokens};

    /// The values of a clause, or why they are not known, and its text.
    fn read(clause: &str) -> (Result<String, &'static str>, String) {
        let numbered = tokens::number(&format!("SELECT :a, @b {clause}")).unwrap();
        let bump = Bump::new();
        let limit = Tree::of(&bump, &numbered).unwrap().select.limit.unwrap();
        let clause = Clause::of(limit, &numbered);
        (clause.bounds(&numbered), clause.text())
    }

    #[test]
    fn the_values_of_both_are_selected() {
        for (clause, bounds, text) in [
            ("LIMIT 10", "SELECT (10), (0)", "LIMIT 10"),
            ("limit 10 offset ?7", "SELECT (10), (?7)", "LIMIT 10 OFFSET ?7"),
            (
                "LIMIT 5, -(2 + 1) * 4",
                "SELECT (- (2 + 1) * 4), (5)",
                "LIMIT 5, - (2 + 1) * 4",
            ),
            ("LIMIT @b OFFSET :a", "SELECT (?2), (?1)", "LIMIT @b OFFSET :a"),
        ] {
            assert_eq!(read(clause), (Ok(bounds.into()), text.into()));
        }
    }

    #[test]
    fn what_may_depend_on_more_than_parameters_is_refused() {
        for clause in [
            "LIMIT abs(random()) % 5",
            "LIMIT a",
            "LIMIT \"a\"",
            "LIMIT '5'",
            "LIMIT 5.0",
            "LIMIT NULL",
            "LIMIT (SELECT 5)",
            "LIMIT (1, 2)",
            "LIMIT 5 OFFSET a",
        ] {
            assert!(read(clause).0.is_err(), "{clause}");
        }
    }
}
