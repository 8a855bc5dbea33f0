//! A SELECT that makes groups, clause by clause.

use resqlite_sqlite::Statement;
use sqlite3_parser::ast::{As, Expr, OneSelect, ResultColumn};

use crate::{
    maintain::{
        clauses::{Mention, NO_PLAIN, Term, as_named, printed, printed_all, sources},
        limit::Clause,
        parsed::Parsed,
        through::is_distinct,
    },
    sql::{names::alias_name, syntax::Refused},
};

/// A SELECT of one arm without subqueries.
pub(super) struct Parts<'t> {
    pub(super) is_distinct: bool,
    pub(super) outputs: Vec<OutputTree<'t>>,
    /// The sources behind FROM.
    pub(super) from: String,
    /// The condition behind WHERE.
    pub(super) condition: Option<&'t Expr<'t>>,
    /// The terms of GROUP BY.
    pub(super) groups: &'t [Expr<'t>],
    pub(super) having: Option<&'t Expr<'t>>,
    pub(super) order: Vec<Term<'t>>,
    pub(super) limit: Option<Clause<'t>>,
}

/// A column of the result.
pub(super) struct OutputTree<'t> {
    pub(super) value: &'t Expr<'t>,
    pub(super) alias: Option<&'t As<'t>>,
}

impl<'t> Parts<'t> {
    /// The parts of a statement.
    ///
    /// # Errors
    /// Why it cannot be put together again in another way.
    pub(super) fn of(parsed: &Parsed<'t>) -> Result<Self, Refused> {
        let select = parsed.tree;
        let tree = &select.body.select;
        let OneSelect::Select {
            columns,
            from: Some(from),
            where_clause,
            group_by,
            having,
            window_clause: None,
            ..
        } = tree
        else {
            return Err(NO_PLAIN);
        };
        let output = |column: &'t ResultColumn<'t>| match column {
            ResultColumn::Expr(value, alias) => Ok(OutputTree {
                value,
                alias: alias.as_ref(),
            }),
            ResultColumn::Star | ResultColumn::TableStar(_) => Err(NO_PLAIN),
        };
        let from = sources(from).map(|(join, table, constraint)| {
            let constraint = constraint.map(|constraint| format!(" {}", printed(constraint)));
            format!("{join}{}{}", printed(table), constraint.unwrap_or_default())
        });
        let order = select.order_by.unwrap_or_default().iter();
        Ok(Self {
            is_distinct: is_distinct(tree),
            outputs: columns.iter().map(output).collect::<Result<_, _>>()?,
            from: from.collect(),
            condition: *where_clause,
            groups: group_by.unwrap_or_default(),
            having: *having,
            order: order.map(Term::read).collect::<Result<_, _>>()?,
            limit: select.limit.map(|limit| Clause::of(limit, parsed.numbered)),
        })
    }

    /// Returns the SELECT without ORDER BY and LIMIT. A column that is named by its own text keeps the name that it has in the
    /// statement `sql`.
    pub(super) fn unordered(&self, sql: &str, statement: &Statement) -> String {
        let outputs = self.outputs.iter().enumerate().map(|(at, output)| {
            let value = printed(output.value);
            match output.alias {
                Some(alias) => format!("{value} {}", printed(alias)),
                None if Mention::of(output.value).is_some() => value,
                None => value + &as_named(sql, &statement.column_name(at)),
            }
        });
        let outputs: Vec<String> = outputs.collect();
        let distinct = if self.is_distinct { "DISTINCT " } else { "" };
        let condition = self
            .condition
            .map(|condition| format!(" WHERE {}", printed(condition)));
        let groups = printed_all(self.groups).join(", ");
        let groups = (!groups.is_empty()).then(|| format!(" GROUP BY {groups}"));
        let having = self.having.map(|having| format!(" HAVING {}", printed(having)));
        let clauses: String = [condition, groups, having].into_iter().flatten().collect();
        format!(
            "SELECT {distinct}{} FROM {}{clauses}",
            outputs.join(", "),
            self.from
        )
    }
}

impl OutputTree<'_> {
    /// Returns whether the column has this name as its alias.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let alias = self.alias.map(alias_name);
        alias.is_some_and(|alias| alias.eq_ignore_ascii_case(name))
    }
}
