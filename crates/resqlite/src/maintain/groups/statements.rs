//! Puts the statements together.

use std::sync::Arc;

use resqlite_live::{Aggregate, Order};
use resqlite_sqlite::Statement;

use super::{
    calls::Call,
    groups_plan::{GroupsPlan, GroupsSource, OfGroups},
    maker::Maker,
    rewrite::{Replaced, call_column, term_column},
    terms::Term,
};
use crate::{
    maintain::{clauses::Mention, keyed::refuse, limit},
    sql::plan::Stop,
};

/// The table of the groups whose rows are read.
const GROUPS: &str = "\"#groups\"";

impl Maker<'_> {
    pub(super) fn plan(&self, statement: &Statement) -> Result<GroupsPlan, Stop> {
        let own_terms = self.terms()?;
        let own_count = own_terms.len();
        let terms = self.with_determined(own_terms)?;
        let named = |mention: &Mention| self.column_of_groups(mention, &terms);
        let mut rewriter = self.rewriter();
        rewriter.named = &named;
        let replaced = terms.iter().enumerate().filter_map(|(number, term)| {
            let column = term_column(number);
            term.value.map(|value| Replaced { value, column })
        });
        rewriter.terms = replaced.collect();
        let outputs = self.outputs(&mut rewriter, &terms)?;
        let having = self.having(&mut rewriter, &terms)?;
        let columns = statement.column_count();
        let mut ordered = self.order(&mut rewriter, &terms, columns)?;
        let aggregates: Vec<Aggregate> = rewriter.calls.iter().map(Call::maintained).collect();
        let arguments = rewriter.calls.iter().map(|call| self.argument(call));
        let arguments: Vec<Option<String>> = arguments.collect::<Result<_, _>>()?;

        let identity_descending = ordered.terms.last().is_some_and(|term| term.descending);
        let direction = if identity_descending { " DESC" } else { "" };
        let names: Vec<String> = (0..)
            .zip(&terms)
            .map(|(at, term)| self.key_column(at, term))
            .collect();
        let directed = |terms: &mut dyn Iterator<Item = &String>| -> Vec<String> {
            terms.map(|term| format!("{term}{direction}")).collect()
        };
        let last_of_all = directed(&mut terms[..own_count].iter().map(|term| &term.ordered));
        let own = self.parts.order.iter().map(|term| term.text.clone());
        let limit = self.parts.limit.as_ref();
        let limit_text = limit.map(|clause| format!(" {}", clause.text()));
        let all = format!(
            "{}{}{}",
            self.parts.unordered(self.parsed.sql, statement),
            order_by(own.chain(last_of_all).collect()),
            limit_text.unwrap_or_default()
        );
        let bounds = limit.map(|clause| clause.bounds(self.parsed.numbered));
        let bounds = bounds.transpose().map_err(Stop::Refused)?;
        ordered.texts.extend(directed(&mut names.iter()));
        let start = columns + ordered.more.len();
        let key = start..start + names.len();
        let given: Vec<String> = outputs.into_iter().chain(ordered.more).chain(names).collect();

        let calls = || (0..aggregates.len()).map(call_column);
        let (groups_table, width) = match self.scope.only() {
            Some(base) => (
                base.given((0..terms.len()).map(term_column).chain(calls())),
                base.columns.len(),
            ),
            None => (self.scope.given(terms.iter().map(|term| term.column), calls()), 0),
        };
        let condition = self.condition()?;
        let more = (0..terms.len()).map(term_column);
        let more = more.chain(calls());
        let sources = self.sources(&groups_table, more)?;
        let rows = |sign: &str, from: &str| {
            let values = [sign.to_owned()].into_iter();
            let values = values.chain(terms.iter().map(|term| term.of_row.clone()));
            let values: Vec<String> = values.chain(arguments.iter().flatten().cloned()).collect();
            format!("SELECT {} FROM {from}{condition}", values.join(", "))
        };
        let count = 1 + terms.len() + arguments.iter().flatten().count();
        let mut read = Vec::new();
        for (base, (from, sign)) in self.scope.bases.iter().zip(&sources.images) {
            read.push(GroupsSource {
                table: base.name.clone(),
                images: self.over_images(base, rows(sign, from), count)?,
            });
        }
        if read.iter().all(|source| source.images.is_none()) {
            return refuse("no index finds the rows that a changed one is joined with");
        }
        let has_extreme = aggregates
            .iter()
            .any(|aggregate| matches!(aggregate, Aggregate::Min | Aggregate::Max));
        let of_groups = if has_extreme && !terms.is_empty() {
            let link = if condition.is_empty() { " WHERE " } else { " AND " };
            self.of_groups(&terms, count, |given, tests| {
                format!(
                    "{}{link}{tests}",
                    rows("1", &format!("{given} CROSS JOIN {}", sources.rows))
                )
            })?
        } else {
            None
        };
        let plan = GroupsPlan {
            all: all.into(),
            of_groups,
            bounds: bounds.map(Arc::from),
            contributions: rows("1", &sources.rows).into(),
            sources: read.into(),
            output: format!(
                "SELECT {} FROM {}{having}{}",
                given.join(", "),
                sources.groups,
                order_by(ordered.texts)
            )
            .into(),
            groups_table,
            width,
            terms: terms.iter().map(|term| self.group_term(term)).collect(),
            term_columns: terms.iter().map(|term| term.column).collect(),
            aggregates: aggregates.into(),
            arguments: numbered(&arguments, 1 + terms.len()),
            is_grouped: !terms.is_empty(),
            order: Order::new(ordered.terms.into(), identity_descending),
            columns,
            sort: ordered.sort.into(),
            key,
        };
        self.check(plan, statement)
    }

    /// Returns the statement for the contributions of the rows of some groups, in `columns` columns. `sql` makes the statement
    /// from a table to put before its own tables, and a further condition that rows must fulfil. Returns `None` if the
    /// statement cannot be prepared, or no index finds these rows.
    fn of_groups(
        &self,
        terms: &[Term<'_>],
        columns: usize,
        sql: impl FnOnce(String, String) -> String,
    ) -> Result<Option<OfGroups>, Stop> {
        let given = self
            .scope
            .given(terms.iter().map(|term| term.column), std::iter::empty());
        if self.planner.given.get(self.planner.connection, &given).is_err() {
            return Ok(None);
        }
        let test = |(number, term): (usize, &Term<'_>)| {
            format!("({}) IS {GROUPS}.{}", term.of_row, term_column(number))
        };
        let tests: Vec<String> = terms.iter().enumerate().map(test).collect();
        let sql = sql(format!("{} AS {GROUPS}", given.name), tests.join(" AND "));
        let prepared = self.planner.connection.prepare(&sql, false).ok();
        let prepared = prepared.and_then(|prepared| prepared.statement);
        if prepared.is_none_or(|statement| statement.column_count() != columns) {
            return Ok(None);
        }
        Ok(self.planner.finds(&sql)?.then(|| OfGroups {
            sql: sql.into(),
            given,
        }))
    }

    /// Checks that all statements give what they should.
    fn check(&self, plan: GroupsPlan, statement: &Statement) -> Result<GroupsPlan, Stop> {
        let connection = self.planner.connection;
        if self.planner.given.get(connection, &plan.groups_table).is_err() {
            return refuse("with what is added for groups, its table has too many columns");
        }
        let has_columns = |sql: &Arc<str>, columns: usize| {
            let prepared = connection.prepare(sql, false).ok()?.statement?;
            (prepared.column_count() == columns).then_some(prepared)
        };
        let rows = 1 + plan.terms.len() + plan.arguments.iter().flatten().count();
        let is_same = |made: Statement| {
            (0..plan.columns).all(|column| made.column_name(column) == statement.column_name(column))
        };
        let prepared = has_columns(&plan.contributions, rows).is_some()
            && has_columns(&plan.output, plan.key.end).is_some()
            && has_columns(&plan.all, plan.columns).is_some_and(is_same);
        if !prepared {
            return refuse("its parts cannot be asked for");
        }
        if plan.bounds.is_some() && !limit::is_same_search(connection, self.parsed.sql, &plan.all)? {
            return refuse(limit::ANOTHER_SEARCH);
        }
        Ok(plan)
    }
}

/// Numbers the columns of the arguments from `first` on. An aggregate without an argument has no column.
fn numbered(arguments: &[Option<String>], first: usize) -> Box<[Option<usize>]> {
    let mut next = first..;
    arguments
        .iter()
        .map(|argument| argument.as_ref().and_then(|_| next.next()))
        .collect()
}

fn order_by(terms: Vec<String>) -> String {
    match &terms[..] {
        [] => String::new(),
        terms => format!(" ORDER BY {}", terms.join(", ")),
    }
}
