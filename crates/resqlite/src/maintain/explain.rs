//! Explanation, for people, of the dependencies of a live query and of the way in which its result is kept.

use crate::sql::{Precision, TableExplanation};

/// The dependencies of a live query, and the maintenance of its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The reason why it is not known what the query depends on, if there is one. Then every commit affects the query, and no
    /// tables are listed.
    pub unknown: Option<String>,
    /// The tables that it reads. A table that it reads at several places, each with conditions of its own, is listed once for
    /// each place.
    pub tables: Vec<TableExplanation>,
    /// Functions it uses whose result can change although no row does; such changes are not noticed.
    pub volatile: Vec<String>,
    /// The way in which its result is brought up to date after a commit that affects it.
    pub maintenance: MaintenanceExplanation,
}

/// The way in which the result of a live query is brought up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaintenanceExplanation {
    /// Only the rows that come from changed base rows are asked for.
    Rows {
        /// The statement that returns all rows in the order in which the live query has them, with further columns.
        statement: String,
    },
    /// Changed base rows contribute to groups, and only the rows of these are made anew.
    Groups {
        /// The statement that returns all rows in the order in which the live query has them.
        statement: String,
    },
    /// Changed base rows contribute to a single group of all rows, because there is no GROUP BY.
    Aggregates {
        /// The statement that returns the result.
        statement: String,
    },
    /// Only the rows that come from changed base rows are asked for. The result has a LIMIT, so more rows are kept than it has.
    Window {
        /// The statement that returns the rows that the live query has, in their order, with further columns.
        statement: String,
    },
    /// The whole query runs again, because of this.
    Rerun(String),
}

impl Explanation {
    /// The precision of the dependencies as a whole.
    pub fn precision(&self) -> Precision {
        if self.unknown.is_some() {
            return Precision::Unknown;
        }
        let tables = self.tables.iter().map(|table| table.precision);
        tables.min().unwrap_or(Precision::Key)
    }
}
