//! LIMIT and OFFSET of a statement whose result is maintained.

use std::sync::Arc;

use resqlite_sqlite::Connection;
use sqlite3_parser::dialect::TokenType::*;

use super::clauses::{Token, cut_at, tokens};
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

/// The statement that returns the values of a LIMIT clause and its OFFSET.
///
/// # Errors
/// Why they may depend on more than parameters.
pub(super) fn bounds(clause: &str, numbered: &Numbered) -> std::result::Result<String, Refused> {
    let tokens = tokens(clause)?;
    let [_, tokens @ ..] = &tokens[..] else {
        return Err(UNCERTAIN);
    };
    let (parts, separators) = cut_at(tokens, |kind| matches!(kind, TK_OFFSET | TK_COMMA));
    let value = |part: &[Token]| value(clause, part, numbered);
    let (limit, offset) = match (&parts[..], &separators[..]) {
        ([limit], []) => (value(limit)?, "0".into()),
        ([limit, offset], [TK_OFFSET]) | ([offset, limit], [TK_COMMA]) => (value(limit)?, value(offset)?),
        _ => return Err(UNCERTAIN),
    };
    Ok(format!("SELECT ({limit}), ({offset})"))
}

const UNCERTAIN: Refused = "its LIMIT is more than numbers and parameters";

/// The text of an expression in which parameters have numbers.
fn value(clause: &str, tokens: &[Token], numbered: &Numbered) -> std::result::Result<String, Refused> {
    let word = |token: &Token| {
        let word = &clause[token.span.clone()];
        match token.kind {
            TK_VARIABLE if !word.starts_with('?') => {
                let number = numbered.number_of(word).ok_or(UNCERTAIN)?;
                Ok(format!("?{number}"))
            }
            TK_VARIABLE | TK_INTEGER | TK_LP | TK_RP | TK_PLUS | TK_MINUS | TK_STAR | TK_SLASH => {
                Ok(word.into())
            }
            _ => Err(UNCERTAIN),
        }
    };
    let words: std::result::Result<Vec<String>, Refused> = tokens.iter().map(word).collect();
    Ok(words?.join(" "))
}

/// Why a statement is refused for which [`is_same_search`] is false.
pub(super) const ANOTHER_SEARCH: &str = "in an order that leaves no rows equal, its rows would have to be found in another way; end \
     ORDER BY with the primary key, or make an index that gives the order";

/// Whether SQLite finds the rows of two statements in the same way, and sorts both or neither. If so, more terms in the order
/// of one cost next to nothing.
///
/// # Errors
/// What SQLite says.
pub(super) fn is_same_search(connection: &Connection, one: &str, other: &str) -> Result<bool> {
    Ok(search(connection, one)? == search(connection, other)?)
}

/// How SQLite finds the rows of a statement, step by step.
///
/// # Errors
/// What SQLite says.
pub(super) fn search(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let mut steps = Vec::new();
    let Some(mut plan) = connection.prepare(&explain, false)?.statement else {
        return Ok(steps);
    };
    while plan.step()? {
        let step = plan.column_text(3).unwrap_or_default();
        // It tells how many terms are left to sort by.
        let is_partly_sorted = step.starts_with("USE TEMP B-TREE FOR LAST");
        steps.push(if is_partly_sorted { "SORT".into() } else { step });
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::bounds;
    use crate::sql::tokens;

    fn bounds_of(clause: &str) -> Result<String, &'static str> {
        bounds(
            clause,
            &tokens::number(&format!("SELECT :a, @b, {clause}")).unwrap(),
        )
    }

    #[test]
    fn the_values_of_both_are_selected() {
        assert_eq!(bounds_of("LIMIT 10").unwrap(), "SELECT (10), (0)");
        assert_eq!(bounds_of("limit 10 offset ?7").unwrap(), "SELECT (10), (?7)");
        assert_eq!(
            bounds_of("LIMIT 5, -(2 + 1) * 4").unwrap(),
            "SELECT (- ( 2 + 1 ) * 4), (5)"
        );
    }

    #[test]
    fn parameters_with_names_get_their_numbers() {
        assert_eq!(bounds_of("LIMIT @b OFFSET :a").unwrap(), "SELECT (?2), (?1)");
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
            "LIMIT 1, 2, 3",
            "LIMIT",
        ] {
            assert!(bounds_of(clause).is_err(), "{clause}");
        }
    }
}
