//! The content of a statement, as far as it affects the rows that the statement needs. Names are without quotes.

use super::names::is_rowid;

/// The reason why a text is not used.
pub(crate) type Refused = &'static str;

/// A whole query: one SELECT, or several that are joined by UNION or a similar operator.
#[derive(Debug, PartialEq)]
pub(crate) struct Select {
    /// Common table expressions.
    pub(crate) with: Vec<CommonTable>,
    pub(crate) arms: Vec<Arm>,
    /// LIMIT leaves out some of the rows.
    pub(crate) is_limited: bool,
    /// Subqueries in the parts that belong to no arm: LIMIT, and the ORDER BY of several arms.
    pub(crate) subqueries: Vec<Select>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct CommonTable {
    pub(crate) name: String,
    /// The names of its columns, if it renames them.
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
    /// Subqueries that are neither in `terms` nor in FROM.
    pub(crate) subqueries: Vec<Select>,
    /// The columns of GROUP BY, if there is one; other expressions are left out.
    pub(crate) grouped_by: Option<Vec<ColumnName>>,
    /// A function is called over a window.
    pub(crate) has_window: bool,
    pub(crate) has_having: bool,
    /// Functions that are called, in lower case. If one of them is an aggregate, one row of the result stands for many rows.
    pub(crate) functions: Vec<String>,
}

/// A column of a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Output {
    /// A column, under its own name or another.
    Column(ColumnName, Option<String>),
    /// An expression, with its alias, if it has one.
    Expression(Option<String>),
    /// All columns of FROM, or of one source.
    Star(Option<String>),
}

impl Output {
    /// Returns whether SQLite chooses the name of the output: it has no alias, and is an expression or the rowid. SQLite names the
    /// rowid after the column that stands for it.
    pub(crate) fn is_named_by_sqlite(&self) -> bool {
        match self {
            Self::Column(column, None) => is_rowid(&column.column),
            Self::Expression(name) => name.is_none(),
            Self::Column(..) | Self::Star(_) => false,
        }
    }

    /// Returns whether `name` is the alias of the output.
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
    /// The terms of ON, unless it holds for all rows.
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

/// The way in which a source is joined with the sources before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    Inner,
    Left,
    /// RIGHT or FULL: rows of this source that have no partner stay in the result.
    Right,
}

/// The content of an expression that must be true, split at AND.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Terms {
    pub(crate) conditions: Vec<Condition>,
    /// Pairs of columns that must be equal.
    pub(crate) equalities: Vec<(ColumnName, ColumnName)>,
    pub(crate) subqueries: Vec<Select>,
}

/// A comparison with values of something that may be a column. The comparison is not true for NULL.
#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    pub(crate) column: ColumnName,
    pub(crate) comparison: Comparison,
    pub(crate) operands: Vec<Constant>,
}

/// The name of a column, as it is written in the statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnName {
    pub(crate) schema: Option<String>,
    pub(crate) table: Option<String>,
    pub(crate) column: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Equal to one value, or to one of several.
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Constant {
    /// A literal, as SQL.
    Literal(String),
    /// The parameter of this number, counted from 1.
    Parameter(usize),
    /// All elements of the JSON array in the parameter of this number.
    ElementsOf(usize),
}

impl Select {
    /// Returns whether there is a subquery in an expression, not only in FROM.
    pub(crate) fn has_subquery(&self) -> bool {
        let in_terms = |terms: &Terms| !terms.subqueries.is_empty();
        let in_arm = |arm: &Arm| {
            !arm.subqueries.is_empty()
                || in_terms(&arm.terms)
                || arm.sources.iter().any(|source| in_terms(&source.on))
        };
        !self.subqueries.is_empty() || self.arms.iter().any(in_arm)
    }

    /// Adds the functions that the query calls, because an aggregate of outer columns belongs to the outer query.
    pub(super) fn add_functions(&self, functions: &mut Vec<String>) {
        let tables = self.with.iter().map(|table| &table.select);
        for inner in tables.chain(&self.subqueries) {
            inner.add_functions(functions);
        }
        for arm in &self.arms {
            // They include the functions of the subqueries in the expressions of the arm.
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
