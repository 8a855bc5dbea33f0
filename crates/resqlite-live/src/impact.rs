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
    /// Why the commit affects the live query, if it does.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::Affected(reason) => Some(reason),
            Self::Skipped(_) => None,
        }
    }

    /// The impact on a live query that reads two tables, from those by each of them.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Affected(one), Self::Affected(other)) => Self::Affected(one.min(other)),
            (Self::Skipped(one), Self::Skipped(other)) => Self::Skipped(one.max(other)),
            (affected @ Self::Affected(_), _) | (_, affected) => affected,
        }
    }
}

/// Why a commit affects a live query. The first of several that apply is given, except that DDL is given as
/// [`Schema`](Reason::Schema) even if the dependencies are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It is not known what changed, or not known what the live query reads.
    Unknown,
    /// The schema changed.
    Schema,
    /// Rows were inserted into or deleted from a table that it reads, or nothing is known but that the table changed.
    Table,
    /// A column that it reads changed.
    Columns,
    /// A row that passes its filter changed, or one for which that is not known.
    Rows,
}

/// Why a commit does not affect a live query: the closest comparison that was needed to rule it out, over all tables
/// that the live query reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    /// None of its tables changed.
    Table,
    /// Only columns changed that it does not read.
    Column,
    /// Only rows changed that its filter excludes.
    Key,
}
