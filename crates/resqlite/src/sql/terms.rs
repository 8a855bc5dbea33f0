//! Finds the conditions on columns in an expression that must be true.

use sqlite3_parser::ast::{
    Expr, Literal, OneSelect, Operator, ResultColumn, Select as SelectAst, SelectTable, UnaryOperator,
};

use super::{
    names::{alias_name, plain, unquoted},
    syntax::{ColumnName, Comparison, Condition, Constant, Refused, Terms},
    tokens::Numbered,
    walk::Walk,
};

/// Adds the terms of expressions that must all be true; returns the subqueries in them.
pub(super) fn read_terms<'a, 'b>(
    numbered: &Numbered,
    expressions: impl IntoIterator<Item = &'a Expr<'b>>,
    terms: &mut Terms,
) -> Result<Vec<&'a SelectAst<'b>>, Refused> {
    let mut pending: Vec<&'a Expr<'b>> = expressions.into_iter().collect();
    let mut walk = Walk::default();
    while let Some(expression) = pending.pop() {
        match bare(expression) {
            Expr::Binary(left, Operator::And, right) => pending.extend([*right, *left]),
            other => {
                walk.expression(other)?;
                add(other, numbered, terms);
            }
        }
    }
    Ok(walk.subqueries)
}

/// Adds the terms of an expression that must be true. Most expressions have none.
fn add(expression: &Expr<'_>, numbered: &Numbered, terms: &mut Terms) {
    let mut add = |column, comparison, values: &mut dyn Iterator<Item = &Expr<'_>>| {
        let operands: Option<Vec<_>> = values.map(|value| constant(value, numbered)).collect();
        if let (Some(column), Some(operands)) = (column_name(column), operands) {
            terms.conditions.push(Condition {
                column,
                comparison,
                operands,
            });
        }
    };
    match expression {
        Expr::Binary(left, operator, right) => {
            let Some((comparison, reversed)) = comparison(*operator) else {
                return;
            };
            add(left, comparison, &mut [*right].into_iter());
            add(right, reversed, &mut [*left].into_iter());
            if let (Operator::Equals, Some(left), Some(right)) =
                (operator, column_name(left), column_name(right))
            {
                terms.equalities.push((left, right));
            }
        }
        Expr::Between {
            lhs,
            not: false,
            start,
            end,
        } => {
            add(lhs, Comparison::GreaterEqual, &mut [*start].into_iter());
            add(lhs, Comparison::LessEqual, &mut [*end].into_iter());
        }
        Expr::InList {
            lhs,
            not: false,
            rhs: Some(values),
        } => add(lhs, Comparison::Equal, &mut values.iter()),
        Expr::InSelect { lhs, not: false, rhs } => {
            if let (Some(column), Some(elements)) = (column_name(lhs), elements(rhs, numbered)) {
                terms.conditions.push(Condition {
                    column,
                    comparison: Comparison::Equal,
                    operands: vec![elements],
                });
            }
        }
        _ => {}
    }
}

/// Returns what an operator means as a comparison of its left side, and as a comparison of its right side.
fn comparison(operator: Operator) -> Option<(Comparison, Comparison)> {
    use Comparison::*;
    Some(match operator {
        // IS differs from = only for NULL, which is dropped when values are filled in.
        Operator::Equals | Operator::Is => (Equal, Equal),
        Operator::Less => (Less, Greater),
        Operator::LessEquals => (LessEqual, GreaterEqual),
        Operator::Greater => (Greater, Less),
        Operator::GreaterEquals => (GreaterEqual, LessEqual),
        _ => return None,
    })
}

/// An expression without the parentheses around it.
pub(crate) fn bare<'a, 'b>(mut expression: &'a Expr<'b>) -> &'a Expr<'b> {
    while let Expr::Parenthesized(inner) = expression
        && let [inner] = inner.as_slice()
    {
        expression = inner;
    }
    expression
}

pub(crate) fn column_name(expression: &Expr<'_>) -> Option<ColumnName> {
    let (schema, table, column) = match bare(expression) {
        Expr::Id(name) => (None, None, unquoted(name.0).into_owned()),
        Expr::Name(column) => (None, None, plain(column)),
        Expr::Qualified(table, column) => (None, Some(plain(table)), plain(column)),
        Expr::DoublyQualified(schema, table, column) => {
            (Some(plain(schema)), Some(plain(table)), plain(column))
        }
        _ => return None,
    };
    Some(ColumnName {
        schema,
        table,
        column,
    })
}

fn constant(expression: &Expr<'_>, numbered: &Numbered) -> Option<Constant> {
    Some(match bare(expression) {
        Expr::Literal(Literal::Numeric(text)) => Constant::Literal((*text).to_owned()),
        Expr::Literal(Literal::String(text)) => Constant::Literal((*text).to_owned()),
        Expr::Literal(Literal::Blob(digits)) => Constant::Literal(format!("x'{digits}'")),
        Expr::Unary(sign, number) => Constant::Literal(signed(*sign, number)?),
        variable => Constant::Parameter(parameter(variable, numbered)?),
    })
}

fn signed(sign: UnaryOperator, number: &Expr<'_>) -> Option<String> {
    let Expr::Literal(Literal::Numeric(text)) = number else {
        return None;
    };
    match sign {
        UnaryOperator::Negative => Some(format!("-{text}")),
        UnaryOperator::Positive => Some((*text).to_owned()),
        _ => None,
    }
}

fn parameter(expression: &Expr<'_>, numbered: &Numbered) -> Option<usize> {
    let Expr::Variable(name) = expression else {
        return None;
    };
    name.parse().ok().or_else(|| numbered.number_of(name))
}

/// Recognises `SELECT value FROM json_each(?)`, which returns the elements of an array.
fn elements(select: &SelectAst<'_>, numbered: &Numbered) -> Option<Constant> {
    let OneSelect::Select {
        columns: [ResultColumn::Expr(output, _)],
        from: Some(from),
        where_clause: None,
        group_by: None,
        having: None,
        ..
    } = &select.body.select
    else {
        return None;
    };
    let is_plain = select.with.is_none() && select.body.compounds.is_none() && select.limit.is_none();
    let Some(SelectTable::TableCall(name, Some([argument]), alias)) = from.select else {
        return None;
    };
    let is_each = name.db_name.is_none() && plain(&name.name).eq_ignore_ascii_case("json_each");
    if !is_plain || !is_each || from.joins.is_some() {
        return None;
    }
    let output = column_name(output)?;
    let called = alias.as_ref().map_or_else(|| plain(&name.name), alias_name);
    let is_value = output.column.eq_ignore_ascii_case("value")
        && output
            .table
            .is_none_or(|table| table.eq_ignore_ascii_case(&called));
    is_value.then_some(Constant::ElementsOf(parameter(bare(argument), numbered)?))
}
