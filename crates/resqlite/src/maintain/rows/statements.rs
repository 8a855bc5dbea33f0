//! Puts together the statements that ask for the rows of a result.

use resqlite_live::Order;
use resqlite_sqlite::Statement;

use super::rows_plan::{Absence, RowsPlan, Source};
use crate::{
    maintain::{
        clauses::Term,
        keyed::{Keyed, Planner, present_with},
        limit::{self, Limit},
        through::Seen,
    },
    sql::{plan::Stop, tokens::Numbered},
};

const UNION: &str = " UNION ALL ";

impl Planner<'_> {
    pub(super) fn put_together(
        &self,
        arms: &[Seen<'_>],
        absences: &[Vec<Absence>],
        terms: &[Term<'_>],
        clause: Option<&limit::Clause<'_>>,
        numbered: &Numbered,
        statement: &Statement,
    ) -> Result<RowsPlan, Stop> {
        let columns = statement.column_count();
        let mut ordered = self.order(arms, terms, statement)?;
        let descending = ordered.terms.last().is_some_and(|term| term.descending);
        let keys_start = columns + ordered.more.len();
        let width = arms.iter().map(Seen::key_columns).max().unwrap_or(0);
        let number_column = (arms.len() > 1).then_some(keys_start + width);
        let mut last_columns = keys_start..keys_start + width + usize::from(number_column.is_some());
        if let (Some(column), []) = (number_column, &ordered.terms[..]) {
            ordered.by_arm(column);
            last_columns.end = column;
        }
        let more = further_columns(arms, &ordered.more, number_column.map(|_| width));
        let last_terms = last_columns.map(|column| match number_column {
            Some(_) => (column + 1).to_string(),
            None => more[0][column - columns].clone(),
        });
        let direction = if descending { " DESC" } else { "" };
        let last_terms = last_terms.map(|term| format!("{term}{direction}"));
        let order: Vec<String> = ordered.texts.into_iter().chain(last_terms).collect();
        let rows = arms.iter().zip(&more);
        let rows: Vec<String> = rows.map(|(arm, more)| arm.clauses.all_rows(more)).collect();
        let all = format!("{} ORDER BY {}", rows.join(UNION), order.join(", "));

        let parameters = numbered.count;
        let bounds = clause.map(|clause| clause.bounds(numbered));
        let bounds = bounds.transpose().map_err(Stop::Refused)?;
        let limit = bounds.map(|bounds| Limit {
            bounds: bounds.into(),
            first: format!("{all} LIMIT ?{}", parameters + 1).into(),
        });
        Ok(RowsPlan {
            sources: sources(arms, absences, &more, keys_start, parameters),
            all: match clause {
                Some(clause) => format!("{all} {}", clause.text()).into(),
                None => all.into(),
            },
            limit,
            one: one_row(arms, &more, parameters).into(),
            order: Order::new(ordered.terms.into(), descending),
            columns,
            width: columns + more[0].len(),
            number_column,
            sort: ordered.sort.into(),
            parameters,
        })
    }
}

/// The columns behind those of the result, in each arm: the values by which the result is ordered, the keys and, with several
/// arms, the number of the arm. `width`: the number of columns of keys that each of several arms has.
fn further_columns(arms: &[Seen<'_>], order: &[String], width: Option<usize>) -> Vec<Vec<String>> {
    let numbered = (0..).zip(arms);
    numbered
        .map(|(number, arm)| {
            let keys = arm.sources.iter().flat_map(|source| &source.key);
            let mut more = order.to_vec();
            more.extend(keys.map(|(_, column)| column.clone()));
            if let Some(width) = width {
                more.resize(order.len() + width, "NULL".into());
                more.push(format!("{number}"));
            }
            more
        })
        .collect()
}

/// The statement that asks for the row of certain base rows.
fn one_row(arms: &[Seen<'_>], more: &[Vec<String>], mut parameter: usize) -> String {
    let one: Vec<String> = arms
        .iter()
        .zip(more)
        .map(|(arm, more)| {
            let keys = arm.sources.iter().map(|source| {
                // With `=`, SQLite would take rows without a partner for impossible.
                let operator = if source.is_optional() { "IS" } else { "=" };
                source.has_key(operator, &mut parameter)
            });
            let keys: Vec<String> = keys.collect();
            arm.clauses.some_rows(more, &[], &keys.join(" AND "))
        })
        .collect();
    one.join(UNION)
}

/// The tables of FROM, and the statements that ask for the rows that come from one row of them.
fn sources(
    arms: &[Seen<'_>],
    absences: &[Vec<Absence>],
    more: &[Vec<String>],
    keys_start: usize,
    parameters: usize,
) -> Box<[Source]> {
    let mut sources = Vec::new();
    for (number, (arm, absences)) in arms.iter().zip(absences).enumerate() {
        let (first, mut start) = (sources.len(), keys_start);
        for (source, absence) in arm.sources.iter().zip(absences) {
            let end = start + source.key.len();
            sources.push(Source {
                table: source.table.name.clone(),
                key: source.key.iter().map(|(column, _)| *column).collect(),
                columns: start..end,
                arm: number,
                first,
                absence: absence.clone(),
                some: some_rows(arms, more, number, source, parameters).into(),
            });
            start = end;
        }
    }
    sources.into()
}

/// The statement that asks for the rows that come from one row of a source of an arm.
fn some_rows(
    arms: &[Seen<'_>],
    more: &[Vec<String>],
    number: usize,
    source: &Keyed<'_>,
    mut parameter: usize,
) -> String {
    let present: Vec<String> = present_with(source, &arms[number].sources)
        .map(Keyed::is_there)
        .collect();
    let condition = source.has_key("=", &mut parameter);
    // Parameters have the same numbers and names in every statement, wherever they stand.
    let some = arms.iter().zip(more).enumerate().map(|(other, (arm, more))| {
        if other == number {
            arm.clauses.some_rows(more, &present, &condition)
        } else {
            arm.clauses.some_rows(more, &[], "0")
        }
    });
    some.collect::<Vec<_>>().join(UNION)
}
