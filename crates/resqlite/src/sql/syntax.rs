//! The content of a statement, as far as it matters for the rows that it needs. Names are without quotes.

use super::names::is_rowid;

/// Why a text is not used.
pub(crate) type Refused = &'static str;

/// A whole query: one SELECT or several that are joined by UNION and the like.
#[derive(Debug, PartialEq)]
pub(crate) struct Select {
    /// Common table expressions.
    pub(crate) with: Vec<CommonTable>,
    pub(crate) arms: Vec<Arm>,
    /// Some of the rows are left out by LIMIT.
    pub(crate) is_limited: bool,
    /// Subqueries in what belongs to no arm: LIMIT, and the ORDER BY of several arms.
    pub(crate) subqueries: Vec<Select>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct CommonTable {
    pub(crate) name: String,
    /// Its columns, if they have names of their own.
    pub(crate) columns: Vec<String>,
    pub(crate) select: Select,
}

/// One SELECT, or VALUES.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Arm {
    pub(crate) outputs: Vec<Output>,
    pub(crate) sources: Vec<Source>,
    /// The terms that hold for all rows: WHERE, and ON of inner joins.
    pub(super) terms: Terms,
    /// Subqueries anywhere else but in FROM.
    pub(crate) subqueries: Vec<Select>,
    /// The columns of GROUP BY, if there is one; other expressions are left out.
    pub(crate) grouped_by: Option<Vec<ColumnName>>,
    /// A function is called over a window.
    pub(crate) has_window: bool,
    pub(crate) has_having: bool,
    /// Functions that are called, in lower case. If one is an aggregate, the result has one row for many.
    pub(crate) functions: Vec<String>,
}

/// A column of a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Output {
    /// A column, under its own name or another.
    Column(ColumnName, Option<String>),
    /// Something else of this name.
    Expression(Option<String>),
    /// All columns of FROM, or of one source.
    Star(Option<String>),
}

impl Output {
    /// Returns whether SQLite chooses its name: it has no alias, and is an expression or the rowid. The rowid is called like the
    /// column that stands for it.
    pub(crate) fn is_named_by_sqlite(&self) -> bool {
        match self {
            Self::Column(column, None) => is_rowid(&column.column),
            Self::Expression(name) => name.is_none(),
            Self::Column(..) | Self::Star(_) => false,
        }
    }

    /// Returns whether this is its alias.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let (Self::Column(_, alias) | Self::Expression(alias)) = self else {
            return false;
        };
        alias
            .as_ref()
            .is_some_and(|alias| alias.eq_ignore_ascii_case(name))
    }
}

/// An entry of FROM.
#[derive(Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) relation: Relation,
    pub(crate) alias: Option<String>,
    pub(crate) join: Join,
    /// The columns of USING.
    pub(crate) using: Vec<String>,
    pub(crate) is_natural: bool,
    /// ON, unless it holds for all rows.
    pub(super) on: Terms,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Relation {
    /// A table, a view, or a common table expression.
    Named {
        schema: Option<String>,
        name: String,
    },
    Select(Select),
    /// A call of a table-valued function of this name, and the subqueries in its arguments.
    Function(String, Vec<Select>),
}

/// The kind of join of a source with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    Inner,
    Left,
    /// RIGHT or FULL: rows of this source stay without a partner.
    Right,
}

/// An expression that must be true: what its AND-ed parts say.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Terms {
    pub(crate) conditions: Vec<Condition>,
    /// Pairs of columns that must be equal.
    pub(crate) equalities: Vec<(ColumnName, ColumnName)>,
    pub(crate) subqueries: Vec<Select>,
}

/// A comparison of something that may be a column with values. It is not true for NULL.
#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    pub(crate) column: ColumnName,
    pub(crate) comparison: Comparison,
    pub(crate) operands: Vec<Constant>,
}

/// A column as the statement names it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnName {
    pub(crate) schema: Option<String>,
    pub(crate) table: Option<String>,
    pub(crate) column: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// With one value, or one of several.
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Constant {
    /// A literal, as SQL.
    Literal(String),
    /// The parameter of this number, counted from 1.
    Parameter(usize),
    /// All elements of the JSON array that is this parameter.
    ElementsOf(usize),
}

impl Select {
    /// Returns whether a subquery stands in an expression, not in FROM.
    pub(crate) fn has_subquery(&self) -> bool {
        let in_terms = |terms: &Terms| !terms.subqueries.is_empty();
        let in_arm = |arm: &Arm| {
            !arm.subqueries.is_empty()
                || in_terms(&arm.terms)
                || arm.sources.iter().any(|source| in_terms(&source.on))
        };
        !self.subqueries.is_empty() || self.arms.iter().any(in_arm)
    }

    /// Adds the functions that it calls: an aggregate of outer columns belongs to the outer query.
    pub(super) fn add_functions(&self, functions: &mut Vec<String>) {
        let tables = self.with.iter().map(|table| &table.select);
        for inner in tables.chain(&self.subqueries) {
            inner.add_functions(functions);
        }
        for arm in &self.arms {
            // The functions of subqueries in its expressions are among them.
            functions.extend(arm.functions.iter().cloned());
            let ons = arm.sources.iter().map(|source| &source.on);
            for inner in ons.chain([&arm.terms]).flat_map(|terms| &terms.subqueries) {
                inner.add_functions(functions);
            }
            for source in &arm.sources {
                if let Relation::Select(inner) = &source.relation {
                    inner.add_functions(functions);
                }
            }
        }
    }
}
