//! Expressions of a statement for another source of rows: calls of aggregates and terms of groups become columns of that
//! source.

use std::mem::discriminant;

use sqlite3_parser::ast::Expr;

use super::calls::{Call, call};
use crate::{
    maintain::clauses::{Mention, mentions, printed},
    sql::{
        names::unquoted,
        syntax::Refused,
        tokens::{Numbered, is_same},
    },
};

/// A text in which every parameter has its number, and the names and functions in that text.
#[derive(Default)]
pub(super) struct Rewritten {
    pub(super) sql: String,
    pub(super) mentions: Vec<Mention>,
    /// The functions that are called, in lower case.
    pub(super) functions: Vec<String>,
}

/// An expression that is replaced by a column.
pub(super) struct Replaced<'t> {
    pub(super) value: &'t Expr<'t>,
    pub(super) column: String,
}

/// Prints expressions, with columns in place of the expressions whose values these columns hold.
pub(super) struct Rewriter<'t> {
    pub(super) numbered: &'t Numbered,
    /// The names, in lower case, of functions that make one value of many rows.
    pub(super) aggregates: &'t [String],
    pub(super) terms: Vec<Replaced<'t>>,
    /// Returns the column of the groups that a name means, if the statement reads several tables.
    pub(super) named: &'t dyn Fn(&Mention) -> Option<String>,
    /// The different calls of aggregates so far.
    pub(super) calls: Vec<Call<'t>>,
}

/// The column of a call of an aggregate.
pub(super) fn call_column(number: usize) -> String {
    format!("\"#a{number}\"")
}

/// The column of a term of the groups that is no column of the table.
pub(super) fn term_column(number: usize) -> String {
    format!("\"#g{number}\"")
}

impl<'t> Rewriter<'t> {
    /// An expression that is evaluated for each row of the table.
    pub(super) fn of_row(&self, expression: &Expr<'_>) -> Result<Rewritten, Refused> {
        Ok(Rewritten {
            sql: self.numbered.by_number(&printed(expression))?,
            mentions: mentions(expression)?,
            functions: Vec::new(),
        })
    }

    /// An expression that is evaluated for each group.
    pub(super) fn of_group(&mut self, expression: &'t Expr<'t>) -> Result<Rewritten, Refused> {
        let mut rewritten = Rewritten::default();
        let sql = self.text(expression, &mut rewritten)?;
        rewritten.sql = self.numbered.by_number(&sql)?;
        Ok(rewritten)
    }

    fn number(&mut self, call: Call<'t>) -> usize {
        let known = self.calls.iter().position(|known| *known == call);
        known.unwrap_or_else(|| {
            self.calls.push(call);
            self.calls.len() - 1
        })
    }

    fn text(&mut self, expression: &'t Expr<'t>, kept: &mut Rewritten) -> Result<String, Refused> {
        let aggregates = self.aggregates;
        let is_aggregate = |name: &str| aggregates.iter().any(|known| known == name);
        if let Some(call) = call(expression, is_aggregate)? {
            return Ok(value(&call_column(self.number(call))));
        }
        let is_it = |term: &&Replaced<'_>| {
            discriminant(term.value) == discriminant(expression)
                && is_same(&printed(term.value), &printed(expression))
        };
        if let Some(term) = self.terms.iter().find(is_it) {
            return Ok(value(&term.column));
        }
        let mut text = |part: &'t Expr<'t>| self.text(part, kept);
        Ok(match expression {
            Expr::Between { lhs, not, start, end } => {
                let (lhs, start, end) = (text(lhs)?, text(start)?, text(end)?);
                format!("{lhs}{} BETWEEN {start} AND {end}", negated(*not))
            }
            Expr::Binary(left, operator, right) => {
                format!("{} {} {}", text(left)?, printed(operator), text(right)?)
            }
            Expr::Case {
                base,
                when_then_pairs,
                else_expr,
            } => {
                let mut sql = "CASE".to_owned();
                if let Some(base) = base {
                    sql += &format!(" {}", text(base)?);
                }
                for (when, then) in *when_then_pairs {
                    sql += &format!(" WHEN {} THEN {}", text(when)?, text(then)?);
                }
                if let Some(other) = else_expr {
                    sql += &format!(" ELSE {}", text(other)?);
                }
                sql + " END"
            }
            Expr::Cast {
                expr,
                type_name: Some(type_name),
            } => format!("CAST({} AS {})", text(expr)?, printed(type_name)),
            Expr::Collate(inner, collation) => format!("{} COLLATE {collation}", text(inner)?),
            Expr::FunctionCall {
                name,
                distinctness: None,
                args,
                order_by: None,
                filter_over: None,
            } => {
                let arguments: Vec<String> = args
                    .iter()
                    .copied()
                    .flatten()
                    .map(text)
                    .collect::<Result<_, _>>()?;
                kept.functions.push(unquoted(name.0).to_ascii_lowercase());
                format!("{}({})", name.0, arguments.join(", "))
            }
            Expr::InList { lhs, not, rhs } => {
                let lhs = text(lhs)?;
                let values: Vec<String> = rhs
                    .iter()
                    .copied()
                    .flatten()
                    .map(text)
                    .collect::<Result<_, _>>()?;
                format!("{lhs}{} IN ({})", negated(*not), values.join(", "))
            }
            Expr::IsNull(inner) => format!("{} ISNULL", text(inner)?),
            Expr::NotNull(inner) => format!("{} NOTNULL", text(inner)?),
            Expr::Like {
                lhs,
                not,
                op,
                rhs,
                escape,
            } => {
                let (lhs, rhs) = (text(lhs)?, text(rhs)?);
                let escape = match escape {
                    Some(escape) => format!(" ESCAPE {}", text(escape)?),
                    None => String::new(),
                };
                format!("{lhs}{} {} {rhs}{escape}", negated(*not), printed(op))
            }
            Expr::Parenthesized(inner) => {
                let inner: Vec<String> = inner.iter().map(text).collect::<Result<_, _>>()?;
                format!("({})", inner.join(", "))
            }
            Expr::Unary(operator, inner) => format!("{} {}", printed(operator), text(inner)?),
            Expr::DoublyQualified(..) | Expr::Id(_) | Expr::Name(_) | Expr::Qualified(..) => {
                let mention = Mention::of(expression).ok_or(UNKNOWN)?;
                // The column of the groups compares like the column that it stands for.
                if let Some(column) = (self.named)(&mention) {
                    return Ok(column);
                }
                kept.mentions.push(mention);
                printed(expression)
            }
            Expr::Literal(_) | Expr::Variable(_) => printed(expression),
            _ => return Err(UNKNOWN),
        })
    }
}

const UNKNOWN: Refused = "it has an expression that is not known for groups";

/// A column as an expression, which has no affinity and no collation.
fn value(column: &str) -> String {
    format!("(+{column})")
}

fn negated(not: bool) -> &'static str {
    if not { " NOT" } else { "" }
}

#[cfg(test)]
mod tests {
    use sqlite3_parser::{
        Bump,
        ast::{OneSelect, ResultColumn},
    };

    use super::Rewriter;
    use crate::{
        maintain::tests::printed::{EXPRESSIONS, TABLES},
        sql::{parse::Tree, tests::db, tokens},
    };

    #[test]
    fn an_expression_of_which_nothing_is_replaced_stays_the_same() {
        let db = db(TABLES);
        for expressions in EXPRESSIONS {
            let sql = format!("SELECT {expressions} FROM t");
            let (bump, numbered) = (Bump::new(), tokens::number(&sql).unwrap());
            let tree = Tree::of(&bump, &numbered).unwrap();
            let OneSelect::Select { columns, .. } = &tree.select.body.select else {
                panic!("{sql}");
            };
            let mut rewriter = Rewriter {
                numbered: &numbered,
                aggregates: &[],
                terms: Vec::new(),
                named: &|_| None,
                calls: Vec::new(),
            };
            let again = columns.iter().map(|column| match column {
                ResultColumn::Expr(value, _) => rewriter.of_group(value).unwrap().sql,
                other => panic!("{other:?}"),
            });
            let again: Vec<String> = again.collect();
            let again = format!("SELECT {} FROM t", again.join(", "));
            let own = numbered.by_number(&numbered.sql).unwrap();
            assert_eq!(db.program(&own), db.program(&again), "{again}");
        }
    }
}
