//! The meanings of names in a statement that makes groups: columns of its tables, which are numbered one table after the other.

use resqlite_live::ROWID;

use super::rewrite::term_column;
use crate::{
    core::names::quoted,
    maintain::{
        base::{Base, BaseColumn},
        clauses::Mention,
        given_tables::GivenTable,
    },
    sql::names::is_rowid,
};

/// The tables of FROM.
pub(super) struct Scope<'a> {
    pub(super) bases: Vec<Base<'a>>,
}

impl<'a> Scope<'a> {
    /// The only table.
    pub(super) fn only(&self) -> Option<&Base<'a>> {
        match &self.bases[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns whether the statement can use `name` for a column.
    pub(super) fn has(&self, name: &str) -> bool {
        self.bases.iter().any(|base| base.has(name))
    }

    /// Returns the column that a name means when it stands without the name of its table.
    pub(super) fn position(&self, name: &str) -> Option<u16> {
        match self.only() {
            Some(only) => only.position(name),
            None => self.named(None, name),
        }
    }

    /// The column that a name means, if it means one: perhaps a [`ROWID`].
    pub(super) fn meant(&self, mention: &Mention) -> Option<u16> {
        if let Some(only) = self.only() {
            return only.meant(mention);
        }
        let column = self.named(mention.table.as_deref(), &mention.name);
        column.or_else(|| is_rowid(&mention.name).then_some(ROWID))
    }

    /// Returns the column of this name, if exactly one of several tables has it.
    fn named(&self, table: Option<&str>, name: &str) -> Option<u16> {
        let table = table.map(|table| quoted(table, '"'));
        let is_meant = |base: &Base<'_>| {
            let table = table.as_deref();
            table.is_none_or(|table| table.eq_ignore_ascii_case(&base.called))
        };
        let mut found = None;
        for (number, base) in self.bases.iter().enumerate() {
            if let Some(column) = base.position(name).filter(|_| is_meant(base)) {
                if found.is_some() {
                    return None;
                }
                found = u16::try_from(self.first_column(number) + usize::from(column)).ok();
            }
        }
        found
    }

    /// The first column of a table.
    pub(super) fn first_column(&self, table: usize) -> usize {
        self.bases[..table].iter().map(|base| base.columns.len()).sum()
    }

    /// Returns the table of a column, and the column's position in that table.
    fn place(&self, column: u16) -> Option<(&Base<'a>, u16)> {
        let mut column = usize::from(column);
        for base in &self.bases {
            if column < base.columns.len() {
                return Some((base, column as u16));
            }
            column -= base.columns.len();
        }
        None
    }

    pub(super) fn column(&self, column: u16) -> Option<&BaseColumn> {
        let (base, column) = self.place(column)?;
        base.columns.get(usize::from(column))
    }

    /// Returns whether the column compares text byte by byte.
    pub(super) fn is_binary(&self, column: u16) -> bool {
        self.place(column)
            .is_none_or(|(base, column)| base.is_binary(column))
    }

    /// Returns the text by which the statement can name a column.
    pub(super) fn qualified(&self, column: u16) -> String {
        let place = self.place(column);
        place.map_or_else(String::new, |(base, column)| base.qualified(column))
    }

    /// Returns the table of groups for several tables. A term that is a column of one of these compares like that column.
    pub(super) fn given(
        &self,
        terms: impl Iterator<Item = Option<u16>>,
        more: impl Iterator<Item = String>,
    ) -> GivenTable {
        let terms = (0..).zip(terms).map(|(number, column)| {
            let declared = column
                .and_then(|column| self.column(column))
                .map(BaseColumn::declared);
            term_column(number) + &declared.unwrap_or_default()
        });
        GivenTable::new(&terms.chain(more).collect::<Vec<_>>().join(", "))
    }
}
