//! The table whose rows make groups.

use resqlite_live::{ROWID, TableName};
use resqlite_sqlite::Connection;

use crate::dependencies::{
    affinity::Affinity,
    catalog::Column,
    clauses::Mention,
    given_tables::GivenTable,
    keyed::refuse,
    names::{is_rowid, quoted},
    plan::Stop,
};

/// The only table of FROM.
pub(super) struct Base<'a> {
    pub(super) name: &'a TableName,
    /// The name by which the statement knows it, in quotes.
    pub(super) called: String,
    pub(super) columns: Vec<BaseColumn>,
}

pub(super) struct BaseColumn {
    name: String,
    pub(super) affinity: Affinity,
    collation: String,
    /// It is computed from others.
    pub(super) is_generated: bool,
}

impl<'a> Base<'a> {
    pub(super) fn read(
        connection: &Connection,
        name: &'a TableName,
        called: &str,
        columns: &[Column],
    ) -> Result<Self, Stop> {
        let read = |column: &Column| {
            let metadata = connection.column_metadata(Some(name.schema()), name.table(), &column.name)?;
            let declared = metadata.declared_type.unwrap_or_default();
            // Outside of STRICT tables it is as good as NUMERIC.
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
                is_generated: column.generated,
            })
        };
        Ok(Self {
            name,
            called: quoted(called),
            columns: columns.iter().map(read).collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn position(&self, name: &str) -> Option<u16> {
        let is_it = |column: &BaseColumn| column.name.eq_ignore_ascii_case(name);
        u16::try_from(self.columns.iter().position(is_it)?).ok()
    }

    /// The column that a name means, if it means one: perhaps the [`ROWID`].
    pub(super) fn meant(&self, mention: &Mention) -> Option<u16> {
        let position = self.position(&mention.name);
        position.or_else(|| is_rowid(&mention.name).then_some(ROWID))
    }

    /// Whether the column compares text byte by byte.
    pub(super) fn is_binary(&self, column: u16) -> bool {
        let column = self.columns.get(usize::from(column));
        column.is_none_or(|column| column.collation.eq_ignore_ascii_case("BINARY"))
    }

    /// A column as the statement can name it.
    pub(super) fn qualified(&self, column: u16) -> String {
        let name = quoted(&self.columns[usize::from(column)].name);
        format!("{}.{name}", self.called)
    }

    /// A table of given rows with the columns of this one, and others without a type.
    pub(super) fn given(&self, more: impl IntoIterator<Item = String>) -> GivenTable {
        let own = self.columns.iter().map(|column| {
            let affinity = match column.affinity {
                Affinity::Numeric => " NUMERIC",
                Affinity::Real => " REAL",
                Affinity::Text => " TEXT",
                Affinity::Blob => "",
            };
            let (name, collation) = (quoted(&column.name), quoted(&column.collation));
            format!("{name}{affinity} COLLATE {collation}")
        });
        GivenTable::new(&own.chain(more).collect::<Vec<_>>().join(", "))
    }
}
