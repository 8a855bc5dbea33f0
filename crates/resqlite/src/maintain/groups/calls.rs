//! Calls of aggregates in the text of a statement.

use sqlite3_parser::dialect::TokenType::*;

use resqlite_live::Aggregate;

use crate::{
    maintain::clauses::{Token, listed, name, span},
    sql::syntax::Refused,
};

/// A call of an aggregate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call<'s> {
    pub(super) aggregate: Aggregate,
    /// `None`: it counts rows.
    pub(super) argument: Option<&'s str>,
    /// The condition behind FILTER.
    pub(super) filter: Option<&'s str>,
}

impl Call<'_> {
    /// The aggregate that is kept of it: one with a filter counts what passes.
    pub(super) fn maintained(&self) -> Aggregate {
        match (self.aggregate, self.filter) {
            (Aggregate::Rows, Some(_)) => Aggregate::Count,
            (aggregate, _) => aggregate,
        }
    }
}

/// The call that begins with the first of these tokens, and how many tokens it has; `None` if none begins there.
/// `is_aggregate` tells whether some function of a name, in lower case, makes one value of many rows.
///
/// # Errors
/// It is one that cannot be maintained.
pub(super) fn call<'s>(
    sql: &'s str,
    tokens: &[Token],
    is_aggregate: impl Fn(&str) -> bool,
) -> Result<Option<(Call<'s>, usize)>, Refused> {
    let [function, open, inner @ ..] = tokens else {
        return Ok(None);
    };
    let function = match name(sql, function) {
        Some(function) if open.kind == TK_LP => function.to_ascii_lowercase(),
        _ => return Ok(None),
    };
    if !is_aggregate(&function) {
        return Ok(None);
    }
    let arguments = &inner[..within(inner)?];
    let is_scalar = matches!(&function[..], "min" | "max") && listed(arguments).len() > 1;
    if is_scalar {
        return Ok(None);
    }
    let aggregate = match &function[..] {
        "count" => Aggregate::Count,
        "sum" => Aggregate::Sum,
        "total" => Aggregate::Total,
        "avg" => Aggregate::Average,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        _ => return Err("it calls an aggregate that is not maintained"),
    };
    let argument = match arguments {
        [] => None,
        [star] if star.kind == TK_STAR => None,
        [first, ..] if first.kind == TK_DISTINCT => return Err("it aggregates distinct values"),
        arguments if listed(arguments).len() > 1 || has_order(arguments) => {
            return Err("it calls an aggregate that is not maintained");
        }
        arguments => Some(&sql[span(arguments)]),
    };
    let mut length = arguments.len() + 3;
    let mut filter = None;
    if let [word, open, rest @ ..] = &tokens[length..]
        && sql[word.span.clone()].eq_ignore_ascii_case("filter")
        && open.kind == TK_LP
    {
        let inner = &rest[..within(rest)?];
        let [start, condition @ ..] = inner else {
            return Err(UNBALANCED);
        };
        if start.kind != TK_WHERE {
            return Err(UNBALANCED);
        }
        filter = Some(&sql[span(condition)]);
        length += inner.len() + 3;
    }
    let aggregate = match (aggregate, argument) {
        (Aggregate::Count, None) => Aggregate::Rows,
        (_, None) => return Err(UNBALANCED),
        (aggregate, Some(_)) => aggregate,
    };
    Ok(Some((
        Call {
            aggregate,
            argument,
            filter,
        },
        length,
    )))
}

/// Whether an aggregate is called in a text, be it one that cannot be maintained.
pub(super) fn calls_any(sql: &str, tokens: &[Token], is_aggregate: impl Fn(&str) -> bool) -> bool {
    (0..tokens.len()).any(|at| !matches!(call(sql, &tokens[at..], &is_aggregate), Ok(None)))
}

const UNBALANCED: Refused = "an aggregate in it could not be read";

/// How many tokens there are up to the parenthesis that closes one before them.
fn within(tokens: &[Token]) -> Result<usize, Refused> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TK_LP => depth += 1,
            TK_RP if depth == 0 => return Ok(at),
            TK_RP => depth -= 1,
            _ => {}
        }
    }
    Err(UNBALANCED)
}

/// Whether the values come in an order of their own.
fn has_order(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.kind == TK_ORDER)
}
