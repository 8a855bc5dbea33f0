//! The text of a SELECT that makes groups, cut at its clauses.

use sqlite3_parser::dialect::TokenType::*;

use crate::{
    maintain::clauses::{NO_PLAIN, Term, Token, listed, span, split, terms, tokens},
    sql::{names::unquoted, syntax::Refused},
};

/// A SELECT of one arm without subqueries.
pub(super) struct Parts<'s> {
    pub(super) is_distinct: bool,
    pub(super) outputs: Vec<OutputText<'s>>,
    /// The sources behind FROM.
    pub(super) from: &'s str,
    /// What stands behind WHERE.
    pub(super) condition: Option<&'s str>,
    /// The terms of GROUP BY.
    pub(super) groups: Vec<&'s str>,
    pub(super) having: Option<&'s str>,
    pub(super) order: Vec<Term<'s>>,
    /// LIMIT and what stands behind it.
    pub(super) limit: Option<&'s str>,
    /// All of it but ORDER BY and LIMIT.
    pub(super) unordered: &'s str,
}

/// A column of the result.
#[derive(Debug, PartialEq)]
pub(super) struct OutputText<'s> {
    pub(super) value: &'s str,
    /// The name behind AS, with its quotes.
    pub(super) alias: Option<&'s str>,
}

impl<'s> Parts<'s> {
    /// Cuts the text of a statement.
    ///
    /// # Errors
    /// Why it cannot be put together again in another way.
    pub(super) fn cut(sql: &'s str) -> Result<Self, Refused> {
        let tokens = tokens(sql)?;
        let mut parts = Self {
            is_distinct: false,
            outputs: Vec::new(),
            from: "",
            condition: None,
            groups: Vec::new(),
            having: None,
            order: Vec::new(),
            limit: None,
            unordered: "",
        };
        let text = |tokens: &[Token]| &sql[span(tokens)];
        for clause in split(&tokens, |kind| {
            matches!(
                kind,
                TK_SELECT | TK_FROM | TK_WHERE | TK_GROUP | TK_HAVING | TK_ORDER | TK_LIMIT
            )
        }) {
            match clause {
                [select, rest @ ..] if select.kind == TK_SELECT => {
                    let outputs = match rest {
                        [distinct, rest @ ..] if distinct.kind == TK_DISTINCT => {
                            parts.is_distinct = true;
                            rest
                        }
                        [all, rest @ ..] if all.kind == TK_ALL => rest,
                        rest => rest,
                    };
                    let outputs = listed(outputs).into_iter();
                    parts.outputs = outputs.map(|tokens| output(sql, tokens)).collect();
                }
                [from, sources @ ..] if from.kind == TK_FROM => parts.from = text(sources),
                [start, condition @ ..] if start.kind == TK_WHERE => parts.condition = Some(text(condition)),
                [group, by, groups @ ..] if group.kind == TK_GROUP && by.kind == TK_BY => {
                    parts.groups = listed(groups).into_iter().map(text).collect();
                }
                [start, having @ ..] if start.kind == TK_HAVING => parts.having = Some(text(having)),
                [order, by, order_terms @ ..] if order.kind == TK_ORDER && by.kind == TK_BY => {
                    parts.order = terms(sql, order_terms)?;
                }
                [limit, ..] if limit.kind == TK_LIMIT => {
                    parts.limit = Some(text(clause));
                }
                _ => return Err(NO_PLAIN),
            }
            if !matches!(clause[0].kind, TK_ORDER | TK_LIMIT) {
                parts.unordered = &sql[..span(clause).end];
            }
        }
        let is_missing = |text: &&str| text.is_empty();
        let all = [parts.condition, parts.having, Some(parts.from)].into_iter();
        let all = all.flatten().chain(parts.groups.iter().copied());
        if all
            .chain(parts.outputs.iter().map(|output| output.value))
            .any(|text| is_missing(&text))
        {
            return Err(NO_PLAIN);
        }
        Ok(parts)
    }
}

fn output<'s>(sql: &'s str, tokens: &[Token]) -> OutputText<'s> {
    let (value, alias) = match tokens {
        [value @ .., by, alias] if by.kind == TK_AS => (value, Some(alias)),
        [value @ .., alias] if alias.kind == TK_ID && value.last().is_some_and(ends_value) => {
            (value, Some(alias))
        }
        all => (all, None),
    };
    OutputText {
        value: &sql[span(value)],
        alias: alias.map(|alias| &sql[alias.span.clone()]),
    }
}

/// Whether a value may end with a token, so that a name behind it is an alias without AS.
fn ends_value(last: &Token) -> bool {
    matches!(
        last.kind,
        TK_ID | TK_RP | TK_INTEGER | TK_FLOAT | TK_STRING | TK_BLOB | TK_NULL | TK_VARIABLE | TK_END
    )
}

impl OutputText<'_> {
    /// Whether it has this name of its own.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let alias = self.alias.map(unquoted);
        alias.is_some_and(|alias| alias.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn each_clause_is_found() {
        let sql = "SELECT a, count(*) AS n FROM t AS x -- all\n WHERE b = 'GROUP BY' GROUP BY a, lower(b, c) HAVING n > 1 ORDER BY n DESC;";
        let parts = Parts::cut(sql).unwrap();
        let outputs: Vec<_> = parts
            .outputs
            .iter()
            .map(|output| (output.value, output.alias))
            .collect();
        assert_eq!(outputs, [("a", None), ("count(*)", Some("n"))]);
        assert_eq!((parts.from, parts.condition), ("t AS x", Some("b = 'GROUP BY'")));
        assert_eq!(parts.groups, ["a", "lower(b, c)"]);
        assert_eq!((parts.having, parts.order.len()), (Some("n > 1"), 1));
        assert!(parts.unordered.ends_with("HAVING n > 1") && parts.limit.is_none());
        assert!(!parts.is_distinct && parts.outputs[1].is_called("N"));
    }

    #[test]
    fn an_alias_needs_no_as() {
        let sql = "SELECT t.a, sum(b) s, -1 \"one\", a COLLATE nocase, CASE a WHEN 1 THEN 2 END c FROM t";
        let parts = Parts::cut(sql).unwrap();
        let aliases: Vec<_> = parts.outputs.iter().map(|output| output.alias).collect();
        assert_eq!(aliases, [None, Some("s"), Some("\"one\""), None, Some("c")]);
        assert_eq!(parts.outputs[1].value, "sum(b)");
    }

    #[test]
    fn words_in_parentheses_begin_no_clause() {
        let sql = "SELECT DISTINCT count(*) FILTER (WHERE a ORDER BY b) FROM t;";
        let parts = Parts::cut(sql).unwrap();
        assert!(parts.is_distinct && parts.condition.is_none() && parts.order.is_empty());
        assert_eq!(parts.unordered, &sql[..sql.len() - 1]);
    }

    #[test]
    fn a_limit_stands_behind_the_order_or_without_one() {
        for (sql, limit) in [
            (
                "SELECT count(*) FROM t GROUP BY a -- all\n ORDER BY a LIMIT 5 OFFSET ?1;",
                "LIMIT 5 OFFSET ?1",
            ),
            ("SELECT count(*) FROM t GROUP BY a LIMIT (1, 2)", "LIMIT (1, 2)"),
        ] {
            let parts = Parts::cut(sql).unwrap();
            assert_eq!(parts.limit, Some(limit));
            assert_eq!(parts.unordered, "SELECT count(*) FROM t GROUP BY a");
        }
    }

    #[test]
    fn what_has_an_empty_clause_is_refused() {
        for sql in [
            "SELECT a FROM t WHERE GROUP BY a",
            "SELECT a, FROM t",
            "SELECT a",
            "VALUES (1)",
            "",
        ] {
            assert!(Parts::cut(sql).is_err(), "{sql}");
        }
    }
}
