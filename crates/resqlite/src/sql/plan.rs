//! A statement whose names are replaced by what they mean.

use super::{
    affinity::Affinity,
    syntax::{Join, Refused},
    templates::Template,
};
use crate::core::error::Error;

/// A column of a place in FROM. Places are numbered throughout the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceColumn {
    pub(crate) place: usize,
    pub(crate) index: u16,
}

/// A query.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) arms: Vec<ArmPlan>,
    pub(crate) is_limited: bool,
    pub(crate) subqueries: Vec<Plan>,
}

#[derive(Debug)]
pub(crate) struct ArmPlan {
    pub(crate) places: Vec<Place>,
    pub(crate) terms: TermsPlan,
    pub(crate) subqueries: Vec<Plan>,
    pub(crate) outputs: Outputs,
    /// The columns of GROUP BY, if there is one.
    pub(crate) grouped_by: Option<Vec<PlaceColumn>>,
    pub(crate) has_window: bool,
    pub(crate) has_having: bool,
    /// Functions that are called. Some may be aggregates.
    pub(crate) functions: Vec<String>,
}

/// The columns of a result, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outputs {
    pub(crate) columns: Vec<OutputColumn>,
    /// More columns may follow.
    pub(crate) is_open: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct OutputColumn {
    /// The name; `None` if SQLite chooses it.
    pub(crate) name: Option<String>,
    /// The column from which the values come, if the output is a plain column.
    pub(crate) column: Option<PlaceColumn>,
}

/// An entry of FROM.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) number: usize,
    pub(crate) rows: Rows,
    /// The name by which columns of this place are qualified.
    pub(crate) called: Option<String>,
    pub(crate) schema: Option<String>,
    pub(crate) join: Join,
    pub(crate) using: Vec<String>,
    pub(crate) is_natural: bool,
    pub(crate) on: TermsPlan,
}

/// The origin of the rows of a place.
#[derive(Debug)]
pub(crate) enum Rows {
    /// A table, by its position among the tables that the statement reads.
    Table(usize),
    /// A view, a common table expression, or a subquery, with the names of its columns.
    Query(Plan, Outputs),
    /// Something else, with the subqueries in its arguments and the names of its columns, if they are known.
    Other(Vec<Plan>, Option<&'static [&'static str]>),
}

/// The facts and equalities of an expression that must be true, and its subqueries.
#[derive(Debug, Default)]
pub(crate) struct TermsPlan {
    pub(crate) facts: Vec<Fact>,
    pub(crate) equalities: Vec<Equality>,
    pub(crate) subqueries: Vec<Plan>,
}

/// Two columns that must be equal. Values that this affinity leaves unchanged are compared as they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Equality {
    pub(crate) left: PlaceColumn,
    pub(crate) right: PlaceColumn,
    pub(crate) affinity: Affinity,
}

/// A condition that a column at a place must fulfil.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fact {
    pub(crate) place: usize,
    pub(super) template: Template,
}

impl Fact {
    pub(crate) fn column(&self) -> PlaceColumn {
        PlaceColumn {
            place: self.place,
            index: self.template.column,
        }
    }

    /// Returns the condition of `template` on `column`.
    pub(super) fn of(template: &Template, column: PlaceColumn) -> Self {
        Self {
            place: column.place,
            template: Template {
                column: column.index,
                ..template.clone()
            },
        }
    }
}

/// Stops a search.
pub(crate) enum Stop<Why = Refused> {
    /// The search has no result, for this reason.
    Refused(Why),
    Error(Error),
}

impl<Why, E: Into<Error>> From<E> for Stop<Why> {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}
