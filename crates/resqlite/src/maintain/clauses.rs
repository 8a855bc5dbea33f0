//! Parts of the syntax tree of a SELECT, printed by the parser's own printer, and statements that are put together from them.

use std::fmt;

use sqlite3_parser::{
    ast::{
        Expr, FromClause, JoinConstraint, JoinOperator, Literal, NullsOrder, OneSelect, SelectTable,
        SortOrder, SortedColumn, UnaryOperator, fmt::ToTokens,
    },
    dialect::TokenType::TK_COLLATE,
};

use crate::{
    core::names::quoted,
    sql::{
        names::unquoted,
        syntax::{Output, Refused},
        terms::column_name,
        tokens::{has, has_quoted},
        walk::Walk,
    },
};

pub(super) const NO_PLAIN: Refused = "it is no plain SELECT";

/// The text of a part of a tree.
pub(super) fn printed(tree: &impl ToTokens) -> String {
    struct Printed<'a, T>(&'a T);
    impl<T: ToTokens> fmt::Display for Printed<'_, T> {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.to_fmt(formatter)
        }
    }
    Printed(tree).to_string()
}

pub(super) fn printed_all<'t, T: ToTokens + 't>(trees: impl IntoIterator<Item = &'t T>) -> Vec<String> {
    trees.into_iter().map(printed).collect()
}

/// Returns `AS` with `name`, for a column that the statement does not name itself. Returns nothing if the statement has this
/// name somewhere, because there the name would then mean this column. In that case the name that SQLite gives the column
/// decides whether the result is maintained.
pub(super) fn as_named(sql: &str, name: &str) -> String {
    if has_quoted(sql, name) {
        return String::new();
    }
    format!(" AS {}", quoted(name, '"'))
}

/// The clauses of a SELECT of one arm without subqueries in its expressions.
pub(super) struct Clauses {
    /// The text of WITH and its tables, and a space.
    pub(super) with: String,
    /// The columns that the SELECT gives.
    pub(super) outputs: Vec<String>,
    /// The sources, each with how it is joined with those before it.
    pub(super) from: Vec<String>,
    /// The condition behind WHERE.
    pub(super) condition: Option<String>,
}

impl Clauses {
    /// Gives each column that is named by its own text the name that it has in the statement `sql`. `name` returns the names of
    /// the columns of that statement.
    pub(super) fn keep_names(
        &mut self,
        sql: &str,
        outputs: &[Output],
        columns: usize,
        name: impl Fn(usize) -> String,
    ) {
        let is_star = |output: &Output| matches!(output, Output::Star(_));
        for (at, output) in outputs.iter().enumerate() {
            let column = match () {
                () if !matches!(output, Output::Expression(None)) => continue,
                () if !outputs[..at].iter().any(is_star) => at,
                () if !outputs[at..].iter().any(is_star) => columns + at - outputs.len(),
                // It is not known which column this is, so the name that SQLite gives it decides whether the result is
                // maintained.
                () => continue,
            };
            self.outputs[at] += &as_named(sql, &name(column));
        }
    }

    /// Returns whether a column of the result may have a collation of its own.
    pub(super) fn gives_collations(&self) -> bool {
        self.outputs.iter().any(|output| has(output, TK_COLLATE))
    }

    /// Returns whether the sources may have columns with a collation of their own.
    pub(super) fn reads_collations(&self) -> bool {
        has(&self.with, TK_COLLATE) || self.from.iter().any(|source| has(source, TK_COLLATE))
    }

    /// Returns a SELECT of these columns from the first sources, as many as `sources` says, with one condition.
    pub(super) fn of_first_sources(&self, sources: usize, columns: &[String], condition: &str) -> String {
        let from = self.from[..sources].concat();
        format!(
            "{}SELECT {} FROM {from} WHERE {condition}",
            self.with,
            columns.join(", ")
        )
    }

    /// The statement without ORDER BY and LIMIT, and with further columns of the result.
    pub(super) fn all_rows(&self, more: &[String]) -> String {
        let condition = self.condition.iter();
        let condition: String = condition.map(|condition| format!(" WHERE {condition}")).collect();
        format!("{}{condition}", self.start(more))
    }

    /// The statement with further columns of the result and a further condition, in no order. `before` stands before the
    /// condition of the statement.
    pub(super) fn some_rows(&self, more: &[String], before: &[String], condition: &str) -> String {
        let before: String = before.iter().map(|term| format!("{term} AND ")).collect();
        let own = self.condition.iter();
        let own: String = own.map(|own| format!("({own}) AND ")).collect();
        format!("{} WHERE {before}{own}{condition}", self.start(more))
    }

    fn start(&self, more: &[String]) -> String {
        let outputs: Vec<&str> = self.outputs.iter().chain(more).map(String::as_str).collect();
        format!(
            "{}SELECT {} FROM {}",
            self.with,
            outputs.join(", "),
            self.from.concat()
        )
    }
}

/// The sources in FROM, each with how it is joined and the constraint of the join.
pub(super) fn sources<'t>(
    from: &'t FromClause<'t>,
) -> impl Iterator<Item = (String, &'t SelectTable<'t>, Option<&'t JoinConstraint<'t>>)> {
    let first = from.select.map(|table| (String::new(), table, None));
    let joined = from.joins.iter().flatten();
    let joined = joined.map(|join| {
        let operator = match join.operator {
            JoinOperator::Comma => ", ".to_owned(),
            JoinOperator::TypedJoin(_) => format!(" {} ", printed(&join.operator)),
        };
        (operator, &join.table, join.constraint.as_ref())
    });
    first.into_iter().chain(joined)
}

/// The names in WHERE.
pub(super) fn names_in_condition(select: &OneSelect<'_>) -> Result<Vec<Mention>, Refused> {
    match select {
        OneSelect::Select {
            where_clause: Some(condition),
            ..
        } => mentions(condition),
        _ => Ok(Vec::new()),
    }
}

/// Returns, for each source in FROM, the names in its ON.
pub(super) fn names_in_joins(select: &OneSelect<'_>) -> Result<Vec<Vec<Mention>>, Refused> {
    let OneSelect::Select { from: Some(from), .. } = select else {
        return Err(NO_PLAIN);
    };
    let names = |(_, _, constraint): (_, _, Option<&JoinConstraint<'_>>)| match constraint {
        Some(JoinConstraint::On(on)) => mentions(on),
        _ => Ok(Vec::new()),
    };
    sources(from).map(names).collect()
}

/// A name in an expression, with the name before the dot.
#[derive(Debug, PartialEq)]
pub(super) struct Mention {
    pub(super) table: Option<String>,
    pub(super) name: String,
}

impl Mention {
    /// Returns the name, if the expression is nothing but a name.
    pub(super) fn of(expression: &Expr<'_>) -> Option<Self> {
        let name = column_name(expression)?;
        Some(Self {
            table: name.table,
            name: name.column,
        })
    }
}

/// All names of columns in an expression.
pub(super) fn mentions(expression: &Expr<'_>) -> Result<Vec<Mention>, Refused> {
    let mut walk = Walk::default();
    walk.expression(expression)?;
    Ok(walk.names.into_iter().filter_map(Mention::of).collect())
}

/// A term of ORDER BY.
pub(super) struct Term<'t> {
    /// The whole term.
    pub(super) text: String,
    /// The expression that it orders by, without COLLATE, direction, and place of NULLs.
    pub(super) value: &'t Expr<'t>,
    /// The text of `value`.
    pub(super) value_text: String,
    pub(super) meaning: Meaning,
    pub(super) collation: Option<String>,
    pub(super) descending: bool,
    pub(super) nulls_last: bool,
    /// The names in the value.
    pub(super) mentions: Vec<Mention>,
}

/// The possible meanings of the value of a term.
#[derive(Debug, PartialEq)]
pub(super) enum Meaning {
    /// A column of the result, counted from 1.
    Ordinal(usize),
    /// A name, perhaps that of a column of the result.
    Name(String),
    /// A name with the name of its table.
    Qualified,
    Expression,
    /// An expression in which a name or a number may be hidden.
    Hidden,
}

impl<'t> Term<'t> {
    pub(super) fn read(term: &'t SortedColumn<'t>) -> Result<Self, Refused> {
        // If there are several collations, the collation of the whole term is not looked for.
        let (value, collation) = match &term.expr {
            Expr::Collate(inner, name) if !matches!(inner, Expr::Collate(..)) => {
                (*inner, Some(unquoted(name).to_ascii_uppercase()))
            }
            whole => (whole, None),
        };
        let descending = term.order == Some(SortOrder::Desc);
        Ok(Self {
            text: printed(term),
            value,
            value_text: printed(value),
            meaning: meaning(value),
            collation,
            descending,
            nulls_last: match term.nulls {
                Some(nulls) => nulls == NullsOrder::Last,
                None => descending,
            },
            mentions: mentions(value)?,
        })
    }
}

pub(super) fn meaning(expression: &Expr<'_>) -> Meaning {
    match expression {
        // SQLite looks through these.
        Expr::Parenthesized(inner) if inner.len() == 1 => meaning(&inner[0]),
        Expr::Unary(UnaryOperator::Positive, inner) => match meaning(inner) {
            Meaning::Name(_) | Meaning::Qualified => Meaning::Expression,
            other => other,
        },
        Expr::Unary(UnaryOperator::Negative, _) | Expr::Literal(Literal::Numeric(_)) => {
            let number = folded(expression).and_then(|number| usize::try_from(number).ok());
            number.map_or(Meaning::Expression, Meaning::Ordinal)
        }
        Expr::Id(name) => Meaning::Name(unquoted(name.0).into_owned()),
        // A column that is named with its schema keeps its affinity, too.
        Expr::Qualified(..) | Expr::DoublyQualified(..) => Meaning::Qualified,
        Expr::FunctionCall { name, .. }
            if HINTS
                .iter()
                .any(|hint| hint.eq_ignore_ascii_case(&unquoted(name.0))) =>
        {
            Meaning::Hidden
        }
        _ => Meaning::Expression,
    }
}

/// The number that SQLite makes of signs and an integer: `- -2` is 2.
fn folded(expression: &Expr<'_>) -> Option<i64> {
    match expression {
        Expr::Parenthesized(inner) if inner.len() == 1 => folded(&inner[0]),
        Expr::Unary(UnaryOperator::Positive, inner) => folded(inner),
        Expr::Unary(UnaryOperator::Negative, inner) => folded(inner)?.checked_neg(),
        Expr::Literal(Literal::Numeric(text)) => integer(text),
        _ => None,
    }
}

/// Functions that give their first argument, which SQLite looks through.
const HINTS: [&str; 3] = ["likely", "unlikely", "likelihood"];

/// The value of a literal that is an integer.
pub(super) fn integer(text: &str) -> Option<i64> {
    let text = text.replace('_', "");
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use sqlite3_parser::Bump;

    use super::{Meaning, Mention, Term, names_in_condition, names_in_joins};
    use crate::sql::{parse::Tree, tokens};

    /// Collects what a test makes of each term of ORDER BY.
    fn terms<T>(order: &str, told: impl Fn(Term<'_>) -> T) -> Vec<T> {
        let (bump, numbered) = (
            Bump::new(),
            tokens::number(&format!("SELECT 1 FROM t ORDER BY {order}")),
        );
        let numbered = numbered.unwrap();
        let order = Tree::of(&bump, &numbered).unwrap().select.order_by.unwrap();
        order.iter().map(|term| told(Term::read(term).unwrap())).collect()
    }

    #[test]
    fn names_and_numbers_are_found_where_sqlite_finds_them() {
        let order = "(a), ((2)), +3, (+0x4), - -5, -(-6), key, +a, -1, (a) + (b), ('a'), likely(a), x'61', t.a, main.t.a, 1.0";
        assert_eq!(
            terms(order, |term| term.meaning),
            [
                Meaning::Name("a".into()),
                Meaning::Ordinal(2),
                Meaning::Ordinal(3),
                Meaning::Ordinal(4),
                Meaning::Ordinal(5),
                Meaning::Ordinal(6),
                Meaning::Name("key".into()),
                Meaning::Expression,
                Meaning::Expression,
                Meaning::Expression,
                Meaning::Expression,
                Meaning::Hidden,
                Meaning::Expression,
                Meaning::Qualified,
                Meaning::Qualified,
                Meaning::Expression,
            ]
        );
    }

    #[test]
    fn conditions_tell_which_names_they_mention() {
        let sql = "SELECT 1 FROM t, u LEFT JOIN v ON v.a = u.b AND c LEFT JOIN w USING (d) JOIN x ON 'e' WHERE lower(\"f\".g)";
        let (bump, numbered) = (Bump::new(), tokens::number(sql).unwrap());
        let select = &Tree::of(&bump, &numbered).unwrap().select.body.select;
        let full = |mentions: Vec<Mention>| -> Vec<String> {
            let full = |one: Mention| match one.table {
                Some(table) => format!("{table}.{}", one.name),
                None => one.name,
            };
            mentions.into_iter().map(full).collect()
        };
        assert_eq!(full(names_in_condition(select).unwrap()), ["f.g"]);
        let joins: Vec<_> = names_in_joins(select).unwrap().into_iter().map(full).collect();
        let none: [&str; 0] = [];
        assert_eq!(joins[2], ["v.a", "u.b", "c"]);
        for at in [0, 1, 3, 4] {
            assert_eq!(joins[at], none);
        }
    }

    #[test]
    fn a_collation_of_an_operand_is_none_of_the_term() {
        let collation = |term: &str| {
            let order = format!("{term} COLLATE nocase DESC");
            terms(&order, |term| term.collation).remove(0)
        };
        for term in [
            "a",
            "t.b",
            "main.t.b",
            "2",
            "-a",
            "'a'",
            "(a = b)",
            "lower(a)",
            "CAST(a AS TEXT)",
        ] {
            assert_eq!(collation(term).as_deref(), Some("NOCASE"), "{term}");
        }
        for term in [
            "a = b",
            "a = t.b",
            "a || b",
            "(a) < (b)",
            "a IN (b) AND c",
            "f(a) = (b)",
            "a COLLATE rtrim",
        ] {
            assert_eq!(collation(term), None, "{term}");
        }
    }

    #[test]
    fn terms_say_what_they_order_by_and_how() {
        let order = "2, a, t.b COLLATE nocase DESC, a || b ASC NULLS LAST, \"c d\" DESC NULLS FIRST";
        let told = |term: Term<'_>| (term.value_text, term.collation, term.descending, term.nulls_last);
        let said = |value: &str, collation: Option<&str>, descending, nulls_last| {
            (
                value.to_owned(),
                collation.map(str::to_owned),
                descending,
                nulls_last,
            )
        };
        assert_eq!(
            terms(order, told),
            [
                said("2", None, false, false),
                said("a", None, false, false),
                said("t.b", Some("NOCASE"), true, true),
                said("a || b", None, false, true),
                said("\"c d\"", None, true, false),
            ]
        );
    }
}
