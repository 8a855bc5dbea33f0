//! The conditions that every row of a simple SELECT must fulfil, as its text says them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use resqlite_live::fault::planted;
use sqlite3_parser::{
    Bump, FallibleIterator,
    ast::{
        As, Cmd, Expr, FromClause, JoinConstraint, JoinOperator, JoinType, JoinedSelectTable, Literal, Name,
        OneSelect, Operator, Select, SelectTable, Stmt, UnaryOperator,
    },
    lexer::sql::Parser,
};

use super::{
    names::unquoted,
    tokens::{self, Numbered, UNREADABLE},
};

/// What a simple SELECT says.
#[derive(Debug, PartialEq)]
pub(super) struct Query {
    pub(super) from: Vec<FromTable>,
    pub(super) conditions: Vec<Condition>,
    /// Names of parameters and their numbers; how many parameters there are.
    pub(super) parameters: (Vec<(String, usize)>, usize),
}

/// A table in the FROM clause. Names are without quotes.
#[derive(Debug, PartialEq)]
pub(super) struct FromTable {
    pub(super) schema: Option<String>,
    pub(super) table: String,
    pub(super) alias: Option<String>,
}

/// A comparison of something that may be a column with values. It is not true for NULL.
#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) column: ColumnName,
    pub(super) comparison: Comparison,
    pub(super) operands: Vec<Source>,
}

/// A column as the statement names it, without quotes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnName {
    pub(super) schema: Option<String>,
    pub(super) table: Option<String>,
    pub(super) column: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// With one value, or one of several.
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    /// A literal, as SQL.
    Literal(String),
    /// The parameter of this number, counted from 1.
    Parameter(usize),
}

/// Finds the conditions of a statement.
///
/// # Errors
/// Why they are not used.
pub(super) fn parse(sql: &str) -> Result<Query, &'static str> {
    let numbered = tokens::number(sql)?;
    // The parser is not ours; if it should panic, nothing is known about the conditions.
    catch_unwind(AssertUnwindSafe(|| read(&numbered))).unwrap_or(Err(UNREADABLE))
}

fn read(numbered: &Numbered) -> Result<Query, &'static str> {
    let bump = Bump::new();
    let mut parser = Parser::new(&bump, numbered.sql.as_bytes());
    let command = parser.next().map_err(|_| UNREADABLE)?;
    let Some(Cmd::Stmt(Stmt::Select(select))) = command else {
        return Err(UNREADABLE);
    };
    if !matches!(parser.next(), Ok(None)) {
        return Err(UNREADABLE);
    }
    let (from, wheres) = simple(select)?;
    let mut query = Query {
        from: tables(from)?,
        conditions: Vec::new(),
        parameters: (numbered.names.clone(), numbered.count),
    };
    let mut pending: Vec<&Expr<'_>> = wheres.into_iter().chain(inner_ons(from)).collect();
    while let Some(expression) = pending.pop() {
        match bare(expression) {
            Expr::Binary(left, Operator::And, right) => pending.extend([*left, *right]),
            Expr::Binary(left, Operator::Or, right) if planted("or_means_and") => {
                pending.extend([*left, *right]);
            }
            other => add_conditions(other, numbered, &mut query.conditions),
        }
    }
    // Both sides of an AND came in reverse.
    query.conditions.reverse();
    Ok(query)
}

/// The FROM and WHERE clauses of a statement that is one SELECT.
fn simple<'a, 'b>(
    select: &'a Select<'b>,
) -> Result<(&'a FromClause<'b>, Option<&'a Expr<'b>>), &'static str> {
    if select.with.is_some() || select.body.compounds.is_some() {
        return Err("the statement is more than one plain SELECT");
    }
    let OneSelect::Select {
        from, where_clause, ..
    } = &select.body.select
    else {
        return Err("the statement is no SELECT");
    };
    let from = from.as_ref().ok_or("the statement has no FROM")?;
    Ok((from, *where_clause))
}

fn tables(from: &FromClause<'_>) -> Result<Vec<FromTable>, &'static str> {
    let first = from.select.ok_or(UNREADABLE)?;
    let mut tables = vec![table(first)?];
    for join in joins(from) {
        if !is_plain(join) {
            return Err("the statement has a NATURAL, USING, RIGHT or FULL join");
        }
        tables.push(table(&join.table)?);
    }
    Ok(tables)
}

fn joins<'a, 'b>(from: &'a FromClause<'b>) -> impl Iterator<Item = &'a JoinedSelectTable<'b>> {
    from.joins.iter().flatten()
}

fn is_plain(join: &JoinedSelectTable<'_>) -> bool {
    let odd = JoinType::NATURAL | JoinType::RIGHT;
    let is_odd = matches!(join.operator, JoinOperator::TypedJoin(Some(kind)) if kind.intersects(odd));
    !is_odd && !matches!(join.constraint, Some(JoinConstraint::Using(_)))
}

/// The conditions of inner joins, which SQLite treats like those of WHERE. Those of a LEFT JOIN do not hold for rows
/// without a partner.
fn inner_ons<'a, 'b>(from: &'a FromClause<'b>) -> impl Iterator<Item = &'a Expr<'b>> {
    joins(from).filter_map(|join| match (&join.operator, &join.constraint) {
        (_, Some(JoinConstraint::On(condition))) if planted("left_join_filters") => Some(condition),
        (JoinOperator::TypedJoin(Some(kind)), _) if kind.intersects(JoinType::LEFT | JoinType::OUTER) => None,
        (_, Some(JoinConstraint::On(condition))) => Some(condition),
        _ => None,
    })
}

fn table(table: &SelectTable<'_>) -> Result<FromTable, &'static str> {
    let SelectTable::Table(name, alias, _) = table else {
        return Err("its FROM has more than plain tables");
    };
    Ok(FromTable {
        schema: name.db_name.as_ref().map(plain),
        table: plain(&name.name),
        alias: alias
            .as_ref()
            .map(|(As::As(name) | As::Elided(name))| plain(name)),
    })
}

fn plain(name: &Name<'_>) -> String {
    unquoted(name.0).into_owned()
}

/// An expression without the parentheses around it.
fn bare<'a, 'b>(mut expression: &'a Expr<'b>) -> &'a Expr<'b> {
    while let Expr::Parenthesized(inner) = expression
        && let [inner] = inner.as_slice()
    {
        expression = inner;
    }
    expression
}

/// Adds what can be said of an expression that must be true; mostly that is nothing.
fn add_conditions(expression: &Expr<'_>, numbered: &Numbered, conditions: &mut Vec<Condition>) {
    let mut add = |column, comparison, values: &mut dyn Iterator<Item = &Expr<'_>>| {
        let operands: Option<Vec<_>> = values.map(|value| source(value, numbered)).collect();
        if let (Some(column), Some(operands)) = (column_name(column), operands) {
            conditions.push(Condition {
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
        }
        Expr::Between {
            lhs,
            not: false,
            start,
            end,
        } => {
            // They are reversed in the end.
            add(lhs, Comparison::LessEqual, &mut [*end].into_iter());
            add(lhs, Comparison::GreaterEqual, &mut [*start].into_iter());
        }
        Expr::InList {
            lhs,
            not: false,
            rhs: Some(values),
        } => add(lhs, Comparison::Equal, &mut values.iter()),
        _ => {}
    }
}

/// What an operator means for its left side, and for its right side.
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

fn column_name(expression: &Expr<'_>) -> Option<ColumnName> {
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

fn source(expression: &Expr<'_>, numbered: &Numbered) -> Option<Source> {
    Some(match bare(expression) {
        Expr::Literal(Literal::Numeric(text)) => Source::Literal((*text).to_owned()),
        Expr::Literal(Literal::String(text)) => Source::Literal((*text).to_owned()),
        Expr::Literal(Literal::Blob(digits)) => Source::Literal(format!("x'{digits}'")),
        Expr::Unary(sign, number) => Source::Literal(signed(*sign, number)?),
        Expr::Variable(name) => Source::Parameter(match name.parse() {
            Ok(number) => number,
            Err(_) => numbered.number_of(name)?,
        }),
        _ => return None,
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
