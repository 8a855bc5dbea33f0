//! A statement whose names are replaced by what they mean.

use super::{
    affinity::Affinity,
    syntax::{Join, Refused},
    templates::Template,
};
use crate::core::error::Error;

/// A column of a place in FROM. Places are numbered through the whole statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlaceColumn {
    pub(super) place: usize,
    pub(super) index: u16,
}

/// A query.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) arms: Vec<ArmPlan>,
    pub(super) is_limited: bool,
    pub(super) subqueries: Vec<Plan>,
}

#[derive(Debug)]
pub(super) struct ArmPlan {
    pub(super) places: Vec<Place>,
    pub(super) terms: TermsPlan,
    pub(super) subqueries: Vec<Plan>,
    pub(super) outputs: Outputs,
    /// The columns of GROUP BY, if there is one.
    pub(super) grouped_by: Option<Vec<PlaceColumn>>,
    pub(super) has_window: bool,
    pub(super) has_having: bool,
    /// Functions that are called. Some may be aggregates.
    pub(super) functions: Vec<String>,
}

/// The columns of a result, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(super) struct Outputs {
    pub(super) columns: Vec<OutputColumn>,
    /// More columns may follow.
    pub(super) is_open: bool,
}

#[derive(Debug, Clone)]
pub(super) struct OutputColumn {
    /// `None`: it has a name that SQLite chooses.
    pub(super) name: Option<String>,
    /// Where the values come from, if it is nothing but a column.
    pub(super) column: Option<PlaceColumn>,
}

/// An entry of FROM.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) number: usize,
    pub(super) rows: Rows,
    /// By what name columns are qualified with it.
    pub(super) called: Option<String>,
    pub(super) schema: Option<String>,
    pub(super) join: Join,
    pub(super) using: Vec<String>,
    pub(super) is_natural: bool,
    pub(super) on: TermsPlan,
}

/// Where the rows of a place come from.
#[derive(Debug)]
pub(super) enum Rows {
    /// A table, by its position among those that the statement reads.
    Table(usize),
    /// A view, a common table expression, or a subquery. Its columns have these names.
    Query(Plan, Outputs),
    /// Something else, with the subqueries in its arguments and the names of its columns, if they are known.
    Other(Vec<Plan>, Option<&'static [&'static str]>),
}

/// What an expression says that must be true.
#[derive(Debug, Default)]
pub(super) struct TermsPlan {
    pub(super) facts: Vec<Fact>,
    pub(super) equalities: Vec<Equality>,
    pub(super) subqueries: Vec<Plan>,
}

/// Two columns that must be equal. Values of both that this affinity leaves alone are compared as they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Equality {
    pub(super) left: PlaceColumn,
    pub(super) right: PlaceColumn,
    pub(super) affinity: Affinity,
}

/// A condition that a column at a place must fulfil.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    pub(super) place: usize,
    pub(super) template: Template,
}

impl Fact {
    pub(super) fn column(&self) -> PlaceColumn {
        PlaceColumn {
            place: self.place,
            index: self.template.column,
        }
    }

    /// This condition on that column.
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

/// Stops the search for conditions.
pub(super) enum Stop {
    /// None are used; why.
    Refused(Refused),
    Error(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}
