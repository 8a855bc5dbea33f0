//! Expressions that are evaluated for each row, and for each group.

use sqlite3_parser::{ast::Expr, dialect::TokenType::TK_COLLATE};

use resqlite_live::{Aggregate, Collation, OrderTerm};

use super::{
    calls::Call,
    maker::Maker,
    rewrite::{Rewriter, Rewritten},
    terms::Term,
};
use crate::{
    maintain::{
        clauses::printed,
        keyed::{named_collation, refuse},
        rows::{Ordered, ordered_by},
    },
    sql::{plan::Stop, tokens::has},
};

impl<'a> Maker<'a> {
    /// An expression that is evaluated for each row. An alias has a meaning in the statement itself, but not there.
    pub(super) fn of_row(&self, value: &Expr<'_>) -> Result<Rewritten, Stop> {
        let row = self.rewriter().of_row(value).map_err(Stop::Refused)?;
        let is_alias = |name: &str| self.parts.outputs.iter().any(|output| output.is_called(name));
        for mention in &row.mentions {
            if self.scope.meant(mention).is_none() && is_alias(&mention.name) {
                return refuse("an expression of it uses a name of its result");
            }
        }
        Ok(row)
    }

    /// An expression that is evaluated for each group.
    fn of_group(
        &self,
        rewriter: &mut Rewriter<'a>,
        value: &'a Expr<'a>,
        terms: &[Term<'_>],
    ) -> Result<String, Stop> {
        let group = rewriter.of_group(value).map_err(Stop::Refused)?;
        for mention in &group.mentions {
            if let Some(column) = self.scope.meant(mention)
                && !terms.iter().any(|term| term.column == Some(column))
            {
                return refuse("it uses a column that is neither grouped by nor aggregated");
            }
            // The table of groups does not have this column, so there the name could mean an alias of the result.
            if self.scope.meant(mention).is_none() && self.scope.has(&mention.name) {
                return refuse("it uses a computed column that is neither grouped by nor aggregated");
            }
            // In the table of groups, the name could mean one of that table's further columns.
            if mention.name.starts_with('#') {
                return refuse("it uses a name that begins with #");
            }
        }
        for name in &group.functions {
            if self.planner.catalog.reads_subtypes(name)? {
                return refuse("it calls a function that knows JSON from other text");
            }
        }
        Ok(group.sql)
    }

    pub(super) fn outputs(
        &self,
        rewriter: &mut Rewriter<'a>,
        terms: &[Term<'_>],
    ) -> Result<Vec<String>, Stop> {
        let mut outputs = Vec::new();
        for output in &self.parts.outputs {
            if has(&printed(output.value), TK_COLLATE) {
                return refuse("a column of it has a collation");
            }
            let value = self.of_group(rewriter, output.value, terms)?;
            outputs.push(match output.alias {
                Some(alias) => format!("{value} {}", printed(alias)),
                None => value,
            });
        }
        Ok(outputs)
    }

    pub(super) fn having(&self, rewriter: &mut Rewriter<'a>, terms: &[Term<'_>]) -> Result<String, Stop> {
        let Some(having) = self.parts.having else {
            return Ok(String::new());
        };
        Ok(format!(" WHERE ({})", self.of_group(rewriter, having, terms)?))
    }

    pub(super) fn condition(&self) -> Result<String, Stop> {
        let Some(condition) = self.parts.condition else {
            return Ok(String::new());
        };
        Ok(format!(" WHERE ({})", self.of_row(condition)?.sql))
    }

    /// Returns the order of the output statement, and the values of this order that are not columns of the result.
    pub(super) fn order(
        &self,
        rewriter: &mut Rewriter<'a>,
        terms: &[Term<'_>],
        columns: usize,
    ) -> Result<Ordered, Stop> {
        let mut ordered = Ordered::default();
        for term in &self.parts.order {
            let column =
                ordered_by(term, &self.parsed.select.arms[0].outputs, columns).map_err(Stop::Refused)?;
            ordered.sort.push(column.unwrap_or(columns + ordered.more.len()));
            if column.is_some() {
                ordered.texts.push(term.text.clone());
            } else {
                if has(&term.value_text, TK_COLLATE) {
                    return refuse("it is ordered by an expression with a collation");
                }
                let value = self.of_group(rewriter, term.value, terms)?;
                let how = &term.text[term.value_text.len()..];
                ordered.texts.push(format!("{value}{how}"));
                ordered.more.push(value);
            }
            ordered.terms.push(OrderTerm {
                // No column of the groups and no expression over them has another collation.
                collation: match &term.collation {
                    Some(name) => named_collation(name)?,
                    None => Collation::Binary,
                },
                descending: term.descending,
                nulls_last: term.nulls_last,
            });
        }
        Ok(ordered)
    }

    /// The expression that an aggregate looks at in each row; `None` if it counts rows.
    pub(super) fn argument(&self, call: &Call<'a>) -> Result<Option<String>, Stop> {
        let argument = match call.argument {
            Some(value) => Some(self.value(call, value)?),
            None => None,
        };
        let Some(filter) = call.filter else {
            return Ok(argument);
        };
        let filter = self.of_row(filter)?.sql;
        let value = argument.as_deref().unwrap_or("1");
        Ok(Some(format!("CASE WHEN ({filter}) THEN ({value}) END")))
    }

    fn value(&self, call: &Call<'a>, value: &Expr<'_>) -> Result<String, Stop> {
        let row = self.of_row(value)?;
        let compares = matches!(call.aggregate, Aggregate::Min | Aggregate::Max);
        let mut columns = row.mentions.iter().filter_map(|name| self.scope.meant(name));
        if compares && (has(&row.sql, TK_COLLATE) || !columns.all(|column| self.scope.is_binary(column))) {
            return refuse("it aggregates something whose collation is not BINARY");
        }
        Ok(row.sql)
    }
}
