//! The terms of GROUP BY, or the columns of a result with DISTINCT.

use sqlite3_parser::{
    ast::Expr,
    dialect::TokenType::{TK_CAST, TK_COLLATE},
};

use resqlite_live::{GroupTerm, ROWID};

use super::{maker::Maker, rewrite::term_column};
use crate::{
    maintain::{
        clauses::{Meaning, Mention, meaning},
        keyed::refuse,
    },
    sql::{affinity::Affinity, names::is_rowid, plan::Stop, tokens::has},
};

/// A term of GROUP BY, as the statement has it.
pub(super) struct Term<'s> {
    /// The expression, if it is no plain column.
    pub(super) value: Option<&'s Expr<'s>>,
    pub(super) column: Option<u16>,
    /// The text of the term in `contributions`.
    pub(super) of_row: String,
    /// The text of the term in ORDER BY.
    pub(super) ordered: String,
}

impl<'a> Maker<'a> {
    /// The terms of the groups.
    pub(super) fn terms(&self) -> Result<Vec<Term<'a>>, Stop> {
        let outputs = || (1..).zip(&self.parts.outputs);
        if self.parts.is_distinct {
            if !self.parts.groups.is_empty() || !self.aggregates.is_empty() {
                return refuse("it has DISTINCT besides groups");
            }
            return outputs()
                .map(|(number, output)| self.term(output.value, Some(number)))
                .collect();
        }
        let term = |value: &'a Expr<'a>| {
            let by_number = |number: usize| match self.parts.outputs.get(number.wrapping_sub(1)) {
                Some(output) => self.term(output.value, Some(number)),
                None => refuse("it is grouped by a column that it does not have"),
            };
            match meaning(value) {
                Meaning::Ordinal(number) => by_number(number),
                // SQLite takes it for the rowid, where there is one, and for an alias otherwise.
                Meaning::Name(name) if is_rowid(&name) && !self.scope.has(&name) => {
                    refuse("it is grouped by the rowid")
                }
                Meaning::Name(name) if !self.scope.has(&name) => {
                    match outputs().find(|(_, output)| output.is_called(&name)) {
                        Some((number, _)) => by_number(number),
                        None => refuse("it is grouped by a name that is not known"),
                    }
                }
                Meaning::Hidden => refuse("it is grouped by a hint to the planner"),
                _ => self.term(value, None),
            }
        };
        self.parts.groups.iter().map(term).collect()
    }

    /// Makes a term. `output`: the number of the column of the result that the term is, counted from 1.
    fn term(&self, value: &'a Expr<'a>, output: Option<usize>) -> Result<Term<'a>, Stop> {
        let row = self.of_row(value)?;
        let columns: Vec<u16> = row
            .mentions
            .iter()
            .filter_map(|name| self.scope.meant(name))
            .collect();
        match () {
            () if columns.is_empty() && !row.mentions.iter().any(|mention| self.scope.has(&mention.name)) => {
                return refuse("it is grouped by a constant");
            }
            () if has(&row.sql, TK_COLLATE)
                || !columns.iter().all(|column| self.scope.is_binary(*column)) =>
            {
                return refuse("it is grouped by something whose collation is not BINARY");
            }
            () => {}
        }
        let column = match meaning(value) {
            Meaning::Name(name) => self.scope.position(&name),
            Meaning::Qualified => columns.first().copied().filter(|column| *column != ROWID),
            _ => None,
        };
        if column.is_none() && has(&row.sql, TK_CAST) {
            return refuse("it is grouped by a CAST");
        }
        let ordered = match (output, column) {
            (Some(number), _) => number.to_string(),
            (None, Some(column)) => self.scope.qualified(column),
            (None, None) => row.sql.clone(),
        };
        Ok(Term {
            value: column.is_none().then_some(value),
            column,
            of_row: row.sql,
            ordered,
        })
    }

    /// Returns the terms, and behind them the columns that the terms determine and that are used beside aggregates: columns of
    /// a table whose key is among the terms.
    pub(super) fn with_determined(&self, mut terms: Vec<Term<'a>>) -> Result<Vec<Term<'a>>, Stop> {
        if self.scope.only().is_some() {
            return Ok(terms);
        }
        let mut determined = Vec::new();
        for (number, base) in self.scope.bases.iter().enumerate() {
            let first = self.scope.first_column(number);
            let key = self.planner.catalog.row_key(base.name)?;
            let has = |column: &u16| {
                let wanted = u16::try_from(first + usize::from(*column)).ok();
                terms
                    .iter()
                    .any(|term| term.column.is_some() && term.column == wanted)
            };
            if !key.is_empty() && key.iter().all(has) {
                determined.push(first..first + base.columns.len());
            }
        }
        let values = self.parts.outputs.iter().map(|output| output.value);
        let values = values.chain(self.parts.having);
        let mut mentions = Vec::new();
        for value in values.chain(self.parts.order.iter().map(|term| term.value)) {
            mentions.extend(self.rewriter().of_group(value).map_err(Stop::Refused)?.mentions);
        }
        for column in mentions.iter().filter_map(|mention| self.scope.meant(mention)) {
            let is_known = terms.iter().any(|term| term.column == Some(column));
            let is_determined = determined
                .iter()
                .any(|columns| columns.contains(&usize::from(column)));
            if is_known || !is_determined {
                continue;
            }
            if !self.scope.is_binary(column) {
                return refuse("it uses a column whose collation is not BINARY");
            }
            let name = self.scope.qualified(column);
            terms.push(Term {
                value: None,
                column: Some(column),
                of_row: name.clone(),
                ordered: name,
            });
        }
        Ok(terms)
    }

    /// Returns the column of the groups that a name means, if the statement reads several tables.
    pub(super) fn column_of_groups(&self, mention: &Mention, terms: &[Term<'_>]) -> Option<String> {
        if self.scope.only().is_some() {
            return None;
        }
        let column = self.scope.meant(mention)?;
        let number = terms.iter().position(|term| term.column == Some(column))?;
        Some(term_column(number))
    }

    pub(super) fn group_term(&self, term: &Term<'_>) -> GroupTerm {
        let column = term.column.and_then(|column| self.scope.column(column));
        GroupTerm {
            is_real: column.is_some_and(|column| column.affinity == Affinity::Real),
        }
    }

    /// The column of the table of groups that holds the values of a term.
    pub(super) fn key_column(&self, number: usize, term: &Term<'_>) -> String {
        match term.column.filter(|_| self.scope.only().is_some()) {
            Some(column) => self.scope.qualified(column),
            None => term_column(number),
        }
    }
}
