//! The impact of a commit on a live query, and the reason for it.

/// The impact of a commit on a live query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impact {
    /// The commit may have changed the query's result.
    Affected(Reason),
    /// The commit cannot have changed the query's result.
    Skipped(Skip),
}

impl Impact {
    /// Returns the reason why the commit affects the live query, if it does.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::Affected(reason) => Some(reason),
            Self::Skipped(_) => None,
        }
    }

    /// Returns the impact on a live query that reads two tables, from the impacts through each table.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Affected(one), Self::Affected(other)) => Self::Affected(one.min(other)),
            (Self::Skipped(one), Self::Skipped(other)) => Self::Skipped(one.max(other)),
            (affected @ Self::Affected(_), _) | (_, affected) => affected,
        }
    }
}

/// The reason why a commit affects a live query. If several reasons apply, the first is reported, except that DDL is reported as
/// [`Schema`](Reason::Schema) even if the dependencies are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It is not known what changed, or not known what the live query reads.
    Unknown,
    /// The schema changed.
    Schema,
    /// Rows were inserted into or deleted from a table that the live query reads, or it is known only that the table changed.
    Table,
    /// A column that the live query reads changed.
    Columns,
    /// A row changed that passes the filter of the live query, or that may pass it.
    Rows,
}

/// The reason why a commit does not affect a live query. It is the closest comparison that was needed to rule this out, over all
/// tables that the live query reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    /// None of the tables that the live query reads changed.
    Table,
    /// Only columns that the live query does not read changed.
    Column,
    /// Only rows that the filter of the live query excludes changed.
    Key,
}
