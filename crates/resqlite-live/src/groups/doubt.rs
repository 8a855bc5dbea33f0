//! Why groups are not known.

use std::{error::Error, fmt};

/// Why a query's groups are not known from those before, or would not be what SQLite finds. The query must run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// A value to be added up is no INTEGER. The sum of REALs depends on the order in which SQLite reads them.
    NotAnInteger,
    /// All positive values, or all negative ones, add up to more than an INTEGER holds: whether that is an error depends on
    /// the order in which SQLite reads them.
    Overflow,
    /// The last value that equals the minimum or the maximum has left. The next one is not known.
    ExtremeLeft,
    /// Values of two types equal the minimum or the maximum, such as 1 and 1.0. Which one it is depends on the order in which
    /// SQLite reads them.
    EqualExtremes,
    /// A group's value equals one of another type, such as 1.0 and 1. Which one the group shows depends on the order in which
    /// SQLite reads them.
    EqualGroups,
    /// A row leaves that never came: what is kept is wrong.
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
