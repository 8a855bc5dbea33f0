//! A table whose rows are shown to SQLite under its own declarations.

use resqlite_live::{ROWID, TableName};
use resqlite_sqlite::Connection;

use super::{clauses::Mention, given_tables::GivenTable, keyed::refuse};
use crate::{
    core::names::quoted,
    sql::{affinity::Affinity, names::is_rowid, plan::Stop, shape::ColumnShape},
};

/// A table in FROM.
pub(super) struct Base<'a> {
    pub(super) name: &'a TableName,
    /// The name by which the statement knows the table, in quotes.
    pub(super) called: String,
    pub(super) columns: Vec<BaseColumn>,
    /// The columns that the statement can name, each with the column of the table that it is, if it is just that.
    pub(super) named: Vec<(String, Option<u16>)>,
}

pub(super) struct BaseColumn {
    name: String,
    pub(super) affinity: Affinity,
    collation: String,
    /// The column is computed from others.
    pub(super) is_generated: bool,
}

impl<'a> Base<'a> {
    pub(super) fn read(
        connection: &Connection,
        name: &'a TableName,
        called: &str,
        columns: &[ColumnShape],
    ) -> Result<Self, Stop> {
        let read = |column: &ColumnShape| {
            let metadata = connection.column_metadata(Some(name.schema()), name.table(), &column.name)?;
            let declared = metadata.declared_type.unwrap_or_default();
            // Outside of STRICT tables, ANY means NUMERIC.
            if declared.eq_ignore_ascii_case("ANY") {
                return refuse("a column of its table has the type ANY");
            }
            if column.name.starts_with('#') {
                return refuse("a column of its table has a name that begins with #");
            }
            Ok(BaseColumn {
                name: column.name.clone(),
                affinity: Affinity::of(&declared),
                collation: metadata.collation,
                is_generated: column.is_generated(),
            })
        };
        let columns: Vec<BaseColumn> = columns.iter().map(read).collect::<Result<_, _>>()?;
        let named = (0..).zip(&columns);
        Ok(Self {
            name,
            called: quoted(called, '"'),
            named: named
                .map(|(at, column)| (column.name.clone(), Some(at)))
                .collect(),
            columns,
        })
    }

    /// Returns the same table, seen through a SELECT that gives these columns.
    pub(super) fn through(self, named: Vec<(String, Option<u16>)>) -> Result<Self, Stop> {
        let is_binary = |at: usize| u16::try_from(at).is_ok_and(|at| self.is_binary(at));
        let computes = named.iter().any(|(_, column)| column.is_none());
        if computes && !(0..self.columns.len()).all(is_binary) {
            return refuse("it reads something whose collation is not known");
        }
        Ok(Self { named, ..self })
    }

    /// Returns whether the statement can use `name` for a column.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut named = self.named.iter();
        named.any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// The column of the table that a name of the statement means.
    pub(super) fn position(&self, name: &str) -> Option<u16> {
        let mut named = self.named.iter();
        named.find(|(known, _)| known.eq_ignore_ascii_case(name))?.1
    }

    /// Returns the column to which the table itself gives this name.
    pub(super) fn own_position(&self, name: &str) -> Option<u16> {
        let is_it = |column: &BaseColumn| column.name.eq_ignore_ascii_case(name);
        u16::try_from(self.columns.iter().position(is_it)?).ok()
    }

    /// The column that a name means, if it means one: perhaps the [`ROWID`].
    pub(super) fn meant(&self, mention: &Mention) -> Option<u16> {
        let position = self.position(&mention.name);
        position.or_else(|| is_rowid(&mention.name).then_some(ROWID))
    }

    /// Returns whether the column compares text byte by byte.
    pub(super) fn is_binary(&self, column: u16) -> bool {
        let column = self.columns.get(usize::from(column));
        column.is_none_or(|column| column.collation.eq_ignore_ascii_case("BINARY"))
    }

    /// Returns the text by which the statement can name a column.
    pub(super) fn qualified(&self, column: u16) -> String {
        let named = self.named.iter().find(|(_, named)| *named == Some(column));
        let own = &self.columns[usize::from(column)].name;
        let name = named.map_or(own, |(name, _)| name);
        format!("{}.{}", self.called, quoted(name, '"'))
    }

    /// Returns the SELECT that gives the table of groups to the statement, with the columns `more` added.
    pub(super) fn seen_groups(&self, groups: &GivenTable, more: impl Iterator<Item = String>) -> String {
        let columns = self.named.iter().filter_map(|(name, column)| {
            let own = &self.columns[usize::from((*column)?)].name;
            Some(format!("{} AS {}", quoted(own, '"'), quoted(name, '"')))
        });
        let columns: Vec<String> = columns.chain(more).collect();
        format!(
            "(SELECT {} FROM {}) AS {}",
            columns.join(", "),
            groups.name,
            self.called
        )
    }

    /// A table of given rows with the columns of this one, and others without a type.
    pub(super) fn given(&self, more: impl IntoIterator<Item = String>) -> GivenTable {
        let own = self.columns.iter();
        let own = own.map(|column| quoted(&column.name, '"') + &column.declared());
        GivenTable::new(&own.chain(more).collect::<Vec<_>>().join(", "))
    }
}

impl BaseColumn {
    /// The text behind the name in the declaration of a given table.
    pub(super) fn declared(&self) -> String {
        let affinity = match self.affinity {
            Affinity::Numeric => " NUMERIC",
            Affinity::Real => " REAL",
            Affinity::Text => " TEXT",
            Affinity::Blob => "",
        };
        format!("{affinity} COLLATE {}", quoted(&self.collation, '"'))
    }
}
