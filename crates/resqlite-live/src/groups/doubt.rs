//! The reasons why groups are not known.

use std::{error::Error, fmt};

/// The reason why a query's groups are not known from the groups before, or would not be the groups that SQLite finds. The query
/// must run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// A value that is to be added up is no INTEGER. The sum of REALs depends on the order in which SQLite reads them.
    NotAnInteger,
    /// All positive values, or all negative values, add up to more than an INTEGER holds. The order in which SQLite reads the
    /// values decides whether this is an error.
    Overflow,
    /// The last value that equals the minimum or the maximum has left. The next extreme is not known.
    ExtremeLeft,
    /// Values of two types equal the minimum or the maximum, such as 1 and 1.0. The order in which SQLite reads them decides
    /// which value is the result.
    EqualExtremes,
    /// A group's value equals a value of another type, such as 1.0 and 1. The order in which SQLite reads them decides which
    /// value the group shows.
    EqualGroups,
    /// A row that never entered leaves, so the kept state is wrong.
    NeverCame,
}

impl fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Doubt::NotAnInteger => "a value that is added up is no INTEGER",
            Doubt::Overflow => "a sum may be too large for an INTEGER",
            Doubt::ExtremeLeft => "the row with a minimum or maximum has left",
            Doubt::EqualExtremes => "an INTEGER and a REAL are both the minimum or maximum",
            Doubt::EqualGroups => "a group's value is a REAL that may equal an INTEGER",
            Doubt::NeverCame => "a row has left that never came",
        })
    }
}

impl Error for Doubt {}
