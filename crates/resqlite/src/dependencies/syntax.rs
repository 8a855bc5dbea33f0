//! What a statement says, as far as it matters for the rows that it needs. Names are without quotes.

/// Why a text is not used.
pub(super) type Refused = &'static str;

/// A whole query: one SELECT or several that are joined by UNION and the like.
#[derive(Debug, PartialEq)]
pub(super) struct Select {
    /// Common table expressions.
    pub(super) with: Vec<CommonTable>,
    pub(super) arms: Vec<Arm>,
    /// Some of the rows are left out by LIMIT.
    pub(super) is_limited: bool,
    /// Subqueries in what belongs to no arm: LIMIT, and the ORDER BY of several arms.
    pub(super) subqueries: Vec<Select>,
}

#[derive(Debug, PartialEq)]
pub(super) struct CommonTable {
    pub(super) name: String,
    /// Its columns, if they have names of their own.
    pub(super) columns: Vec<String>,
    pub(super) select: Select,
}

/// One SELECT, or VALUES.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Arm {
    pub(super) outputs: Vec<Output>,
    pub(super) sources: Vec<Source>,
    /// What holds for all rows: WHERE, and ON of inner joins.
    pub(super) terms: Terms,
    /// Subqueries anywhere else but in FROM.
    pub(super) subqueries: Vec<Select>,
    /// The columns of GROUP BY, if there is one; other expressions are left out.
    pub(super) grouped_by: Option<Vec<ColumnName>>,
    /// A function is called over a window.
    pub(super) has_window: bool,
    pub(super) has_having: bool,
    /// Functions that are called, in lower case. If one is an aggregate, the result has one row for many.
    pub(super) functions: Vec<String>,
}

/// A column of a result.
#[derive(Debug, PartialEq)]
pub(super) enum Output {
    /// A column, under its own name or another.
    Column(ColumnName, Option<String>),
    /// Something else of this name.
    Expression(Option<String>),
    /// All columns of FROM, or of one source.
    Star(Option<String>),
}

impl Output {
    /// Whether it has a name of its own.
    pub(super) fn has_alias(&self) -> bool {
        matches!(self, Self::Column(_, Some(_)) | Self::Expression(Some(_)))
    }

    /// Whether it has this name of its own.
    pub(super) fn is_called(&self, name: &str) -> bool {
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
pub(super) struct Source {
    pub(super) relation: Relation,
    pub(super) alias: Option<String>,
    pub(super) join: Join,
    /// The columns of USING.
    pub(super) using: Vec<String>,
    pub(super) is_natural: bool,
    /// ON, unless it holds for all rows.
    pub(super) on: Terms,
}

#[derive(Debug, PartialEq)]
pub(super) enum Relation {
    /// A table, a view, or a common table expression.
    Named {
        schema: Option<String>,
        name: String,
    },
    Select(Select),
    /// A call of a table-valued function of this name, and the subqueries in its arguments.
    Function(String, Vec<Select>),
}

/// How a source is joined with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    Inner,
    Left,
    /// RIGHT or FULL: rows of this source stay without a partner.
    Right,
}

/// An expression that must be true: what its AND-ed parts say.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Terms {
    pub(super) conditions: Vec<Condition>,
    /// Pairs of columns that must be equal.
    pub(super) equalities: Vec<(ColumnName, ColumnName)>,
    pub(super) subqueries: Vec<Select>,
}

/// A comparison of something that may be a column with values. It is not true for NULL.
#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) column: ColumnName,
    pub(super) comparison: Comparison,
    pub(super) operands: Vec<Constant>,
}

/// A column as the statement names it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnName {
    pub(super) schema: Option<String>,
    pub(super) table: Option<String>,
    pub(super) column: String,
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
    /// Adds the functions that it calls: an aggregate of outer columns belongs to the outer query.
    pub(super) fn add_functions(&self, functions: &mut Vec<String>) {
        let tables = self.with.iter().map(|table| &table.select);
        for inner in tables.chain(&self.subqueries) {
            inner.add_functions(functions);
        }
        for arm in &self.arms {
            // Those of subqueries in its expressions are among them.
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
