//! The order of the rows of a result.

use resqlite_live::{Collation, OrderTerm};
use resqlite_sqlite::Statement;
use sqlite3_parser::dialect::TokenType::TK_COLLATE;

use crate::{
    maintain::{
        clauses::{Clauses, Meaning, Mention, Term},
        keyed::{Keyed, Planner, named_collation, refuse},
        through::Seen,
    },
    sql::{
        names::is_rowid,
        plan::Stop,
        syntax::{Output, Refused},
        tables::Kind,
        tokens::has,
    },
};

const UNKNOWN_COLLATION: Refused = "it is ordered by something whose collation is not known";
const UNCERTAIN_ORDER: Refused =
    "it is not certain by which column of several SELECTs it is ordered: order by the number of the column";

/// The order of a statement.
#[derive(Default)]
pub(in super::super) struct Ordered {
    /// The values that are no columns of the result.
    pub(in super::super) more: Vec<String>,
    /// The terms of ORDER BY.
    pub(in super::super) texts: Vec<String>,
    pub(in super::super) terms: Vec<OrderTerm>,
    /// The columns that hold the values of the terms.
    pub(in super::super) sort: Vec<usize>,
}

impl Ordered {
    /// Orders by the number of the arm, which stands in this column.
    pub(super) fn by_arm(&mut self, column: usize) {
        self.texts.push(format!("{}", column + 1));
        self.sort.push(column);
        self.terms.push(OrderTerm {
            collation: Collation::Binary,
            descending: false,
            nulls_last: false,
        });
    }
}

impl Planner<'_> {
    /// The order of the statement.
    pub(super) fn order(
        &self,
        arms: &[Seen<'_>],
        terms: &[Term<'_>],
        statement: &Statement,
    ) -> Result<Ordered, Stop> {
        let first = &arms[0];
        let columns = statement.column_count();
        let mut ordered = Ordered::default();
        for term in terms {
            let column = if arms.len() > 1 {
                let column = self.ordered_in_all(term, first, statement);
                Some(column.map_err(Stop::Refused)?)
            } else {
                ordered_by(term, &first.one.arm.outputs, columns).map_err(Stop::Refused)?
            };
            ordered.sort.push(column.unwrap_or(columns + ordered.more.len()));
            if column.is_none() {
                ordered.more.push(term.value_text.clone());
            }
            let mut collation = Collation::Binary;
            for arm in arms {
                collation = self.term_collation(term, column.is_some(), &arm.clauses, &arm.sources)?;
            }
            ordered.texts.push(term.text.clone());
            ordered.terms.push(OrderTerm {
                collation,
                descending: term.descending,
                nulls_last: term.nulls_last,
            });
        }
        Ok(ordered)
    }

    /// Returns the column of the result that a term means in a statement of several arms. The term is the column's number, or a
    /// name that means nothing else in the first arm, where SQLite looks first.
    fn ordered_in_all(
        &self,
        term: &Term<'_>,
        first: &Seen<'_>,
        statement: &Statement,
    ) -> Result<usize, Refused> {
        let columns = statement.column_count();
        let name = match &term.meaning {
            Meaning::Ordinal(number) if (1..=columns).contains(number) => return Ok(number - 1),
            Meaning::Name(name) => name,
            _ => return Err(UNCERTAIN_ORDER),
        };
        let is_it = |column: &usize| statement.column_name(*column).eq_ignore_ascii_case(name);
        let found: Vec<usize> = (0..columns).filter(is_it).collect();
        let [column] = found[..] else {
            return Err(UNCERTAIN_ORDER);
        };
        let mention = Mention {
            table: None,
            name: name.clone(),
        };
        let outputs = &first.one.arm.outputs;
        let has_alias = outputs.iter().any(|output| output.is_called(name));
        let is_plain = || self.named(first).meant(&mention).count() == 1 && is_first(column, name, outputs);
        if has_alias || is_plain() {
            Ok(column)
        } else {
            Err(UNCERTAIN_ORDER)
        }
    }

    /// The collation by which SQLite compares the values of a term.
    fn term_collation(
        &self,
        term: &Term<'_>,
        is_result: bool,
        clauses: &Clauses,
        sources: &[Keyed<'_>],
    ) -> Result<Collation, Stop> {
        if let Some(name) = &term.collation {
            return named_collation(name);
        }
        if is_result && clauses.gives_collations() {
            return refuse(UNKNOWN_COLLATION);
        }
        if has(&term.value_text, TK_COLLATE) {
            return refuse("it is ordered by an expression with a collation");
        }
        let is_seen_through = sources.iter().any(|source| !source.is_plain());
        if is_seen_through && clauses.reads_collations() {
            return refuse(UNKNOWN_COLLATION);
        }
        // The collation of an expression depends on the columns in it. If all columns have BINARY, the collation is certain.
        for source in sources {
            let Kind::Ordinary(columns) = &source.table.kind else {
                continue;
            };
            for column in columns {
                if self.collation(&source.table.name, &column.name)? == Collation::Binary {
                    continue;
                }
                return if is_result {
                    refuse(UNKNOWN_COLLATION)
                } else {
                    self.column_collation(term, sources)
                };
            }
        }
        Ok(Collation::Binary)
    }

    /// The collation of a term that is the name of a column.
    fn column_collation(&self, term: &Term<'_>, sources: &[Keyed<'_>]) -> Result<Collation, Stop> {
        if let (Meaning::Name(_) | Meaning::Qualified, [mention]) = (&term.meaning, &term.mentions[..])
            && let Some((source, column)) = self.only_column(mention, sources)
            && let Kind::Ordinary(columns) = &source.table.kind
        {
            return self.collation(&source.table.name, &columns[usize::from(column)].name);
        }
        refuse(UNKNOWN_COLLATION)
    }

    /// The only column that a name can mean.
    fn only_column<'s>(&self, mention: &Mention, sources: &'s [Keyed<'s>]) -> Option<(&'s Keyed<'s>, u16)> {
        if sources.len() > 1 && !sources.iter().all(Keyed::is_plain) {
            return None;
        }
        let is_called = |source: &&Keyed<'_>| match (&mention.table, &source.place.called) {
            (Some(table), Some(called)) => called.eq_ignore_ascii_case(table),
            _ => true,
        };
        let column = |source: &'s Keyed<'s>| {
            let column = source.place.column_called(&mention.name, self.tables)?;
            Some((source, column))
        };
        let mut found = sources.iter().filter(is_called).filter_map(column);
        found.next().filter(|_| found.next().is_none())
    }
}

/// Returns whether a column of the result is the first that is the table's column of this name. SQLite takes the first one,
/// whatever the result calls it.
fn is_first(column: usize, name: &str, outputs: &[Output]) -> bool {
    let may_be_it = |output: &Output| match output {
        Output::Column(other, alias) => {
            other.column.eq_ignore_ascii_case(name) || alias.is_some() && is_rowid(&other.column)
        }
        // It may be the column with a collation.
        Output::Expression(_) => true,
        Output::Star(_) => false,
    };
    let is_star = |output: &Output| matches!(output, Output::Star(_));
    match outputs.iter().position(may_be_it) {
        Some(first) => first == column && !outputs[..first].iter().any(is_star),
        None => true,
    }
}

/// The column of the result that a term orders by; `None` where it orders by something else.
pub(in super::super) fn ordered_by(
    term: &Term<'_>,
    outputs: &[Output],
    columns: usize,
) -> Result<Option<usize>, Refused> {
    if term.value_text.contains(['?', ':', '@', '$', '#']) {
        return Err("it is ordered by a parameter");
    }
    match &term.meaning {
        Meaning::Ordinal(number) if (1..=columns).contains(number) => Ok(Some(number - 1)),
        Meaning::Ordinal(_) => Err("it is ordered by a column that it does not have"),
        Meaning::Name(name) => alias(name, outputs),
        Meaning::Qualified | Meaning::Expression => Ok(None),
        Meaning::Hidden => Err("it is ordered by a hint to the planner"),
    }
}

/// Returns the column of the result that has this name as its alias.
fn alias(name: &str, outputs: &[Output]) -> Result<Option<usize>, Refused> {
    let found = outputs.iter().position(|output| output.is_called(name));
    let mut before = outputs[..found.unwrap_or(0)].iter();
    if before.any(|output| matches!(output, Output::Star(_))) {
        return Err("it is ordered by a name behind *");
    }
    Ok(found)
}
