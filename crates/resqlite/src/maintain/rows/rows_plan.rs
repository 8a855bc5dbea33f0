//! The statements that maintain a result.

use std::{ops::Range, sync::Arc};

use resqlite_live::{Order, ROWID, TableName};

use crate::maintain::{limit::Limit, partners::Partners};

/// The statements that maintain a result. Their columns are those of the result, the values by which it is ordered, and the
/// keys of the base rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowsPlan {
    /// All rows of the result, in order.
    pub(crate) all: Arc<str>,
    /// The further statements, if the result has a LIMIT.
    pub(crate) limit: Option<Limit>,
    /// The statement for the row that comes from certain base rows. The parameters behind those of the statement are the keys
    /// of all sources.
    pub(crate) one: Arc<str>,
    pub(crate) order: Order,
    /// The columns of the result.
    pub(crate) columns: usize,
    /// All columns.
    pub(crate) width: usize,
    /// If several SELECTs are joined by UNION ALL: the column that says which SELECT a row comes from.
    pub(crate) number_column: Option<usize>,
    /// The columns that hold the values that it is ordered by.
    pub(crate) sort: Box<[usize]>,
    /// The tables of FROM.
    pub(crate) sources: Box<[Source]>,
    /// The number of parameters of the statement.
    pub(crate) parameters: usize,
}

/// A table of FROM.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    pub(crate) table: TableName,
    /// The columns of its key, as images count them.
    pub(crate) key: Box<[u16]>,
    /// The columns that hold its key in the result.
    pub(crate) columns: Range<usize>,
    /// The number of the SELECT that reads it.
    pub(crate) arm: usize,
    /// The position of the first source of that SELECT.
    pub(crate) first: usize,
    pub(crate) absence: Absence,
    /// The statement for the rows that come from one base row of the table. The parameters behind those of the result's
    /// statement give the key of that base row.
    pub(crate) some: Arc<str>,
}

/// The possibility that a row of the result comes from no row of a source, because the source stands behind LEFT JOIN. A change of
/// one of its rows then concerns all rows of the first source that this row is joined with, or was.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Absence {
    Never,
    /// The rows that were joined with a row of the source are kept.
    Kept,
    /// The rows that were joined with a row of the source need not be kept, and these statements find them.
    Asked(Box<Partners>),
    /// The rows that were joined with a row of the source need not be kept, and nothing finds them.
    Unknown,
}

impl Source {
    /// Returns whether the source stands behind LEFT JOIN.
    pub(crate) fn is_optional(&self) -> bool {
        self.absence != Absence::Never
    }

    /// Returns whether its key is the rowid.
    pub(crate) fn has_rowid(&self) -> bool {
        *self.key == [ROWID]
    }
}

impl RowsPlan {
    /// The columns of each table of which images are needed.
    pub(crate) fn needed_images(&self) -> Box<[(TableName, Box<[u16]>)]> {
        let images = |source: &Source| {
            let mut columns = source.key.to_vec();
            if let Absence::Asked(partners) = &source.absence {
                columns.extend_from_slice(&partners.before.needed);
                columns.sort_unstable();
                columns.dedup();
            }
            (source.table.clone(), columns.into())
        };
        self.sources.iter().map(images).collect()
    }
}
