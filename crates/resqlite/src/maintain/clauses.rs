//! The clauses of a plain SELECT as text, and statements that are put together from them.

use std::ops::Range;

use sqlite3_parser::{
    dialect::TokenType::{self, *},
    lexer::{Scanner, sql::Tokenizer},
};

use crate::sql::{names::unquoted, syntax::Refused, tokens::UNREADABLE};

/// The text of a SELECT of one arm without subqueries in its expressions, cut at its clauses.
pub(super) struct Clauses<'s> {
    sql: &'s str,
    tokens: Vec<Token>,
    /// WITH and its tables.
    with: Range<usize>,
    /// SELECT and what it gives.
    select: Range<usize>,
    /// FROM and the sources.
    from: Range<usize>,
    /// The condition behind WHERE.
    condition: Option<Range<usize>>,
    /// What stands behind ORDER BY.
    pub(super) order: Vec<Term<'s>>,
    /// LIMIT and OFFSET.
    pub(super) limit: Option<&'s str>,
}

/// A term of ORDER BY.
#[derive(Debug, PartialEq)]
pub(super) struct Term<'s> {
    /// The whole term.
    pub(super) text: &'s str,
    /// What it orders by, without COLLATE, direction, and place of NULLs.
    pub(super) value: &'s str,
    pub(super) meaning: Meaning,
    pub(super) collation: Option<String>,
    pub(super) descending: bool,
    pub(super) nulls_last: bool,
    /// The names in the value.
    pub(super) mentions: Vec<Mention>,
}

/// What the value of a term can mean.
#[derive(Debug, PartialEq)]
pub(super) enum Meaning {
    /// A column of the result, counted from 1.
    Ordinal(usize),
    /// A name, perhaps that of a column of the result.
    Name(String),
    /// A name with that of its table.
    Qualified,
    Expression,
    /// A name or a number may be hidden in it.
    Hidden,
}

/// A name in an expression, with that before the dot.
#[derive(Debug, PartialEq)]
pub(super) struct Mention {
    pub(super) table: Option<String>,
    pub(super) name: String,
}

#[derive(Clone)]
pub(super) struct Token {
    pub(super) kind: TokenType,
    pub(super) span: Range<usize>,
}

pub(super) const NO_PLAIN: Refused = "it is no plain SELECT";

impl<'s> Clauses<'s> {
    /// Cuts the text of a statement.
    ///
    /// # Errors
    /// Why it cannot be put together again in another way.
    pub(super) fn cut(sql: &'s str) -> Result<Self, Refused> {
        let mut clauses = Self {
            sql,
            tokens: Vec::new(),
            with: 0..0,
            select: 0..0,
            from: 0..0,
            condition: None,
            order: Vec::new(),
            limit: None,
        };
        let tokens = tokens(sql)?;
        if tokens.iter().any(|token| token.kind == TK_DISTINCT) {
            return Err("it has DISTINCT");
        }
        for clause in split(&tokens, |kind| {
            matches!(kind, TK_SELECT | TK_FROM | TK_WHERE | TK_ORDER | TK_LIMIT)
        }) {
            match clause[0].kind {
                TK_WITH => clauses.with = span(clause),
                TK_SELECT => clauses.select = span(clause),
                TK_FROM => clauses.from = span(clause),
                TK_WHERE if clause.len() > 1 => clauses.condition = Some(span(&clause[1..])),
                TK_ORDER if clause.len() > 2 => clauses.order = terms(sql, &clause[2..])?,
                TK_LIMIT => clauses.limit = Some(&sql[span(clause)]),
                _ => return Err(NO_PLAIN),
            }
        }
        if clauses.select.is_empty() || clauses.from.is_empty() {
            return Err(NO_PLAIN);
        }
        clauses.tokens = tokens;
        Ok(clauses)
    }

    /// Whether a column of the result may have a collation of its own.
    pub(super) fn gives_collations(&self) -> bool {
        self.within(&self.select).any(|token| token.kind == TK_COLLATE)
    }

    /// Whether what it reads may have columns with a collation of their own.
    pub(super) fn reads_collations(&self) -> bool {
        let mut inside = self.within(&self.with).chain(self.within(&self.from));
        inside.any(|token| token.kind == TK_COLLATE)
    }

    /// The names in WHERE.
    pub(super) fn names_in_condition(&self) -> Vec<Mention> {
        let tokens: Vec<&Token> = self.condition.iter().flat_map(|span| self.within(span)).collect();
        mentions(self.sql, &tokens)
    }

    /// The names in what follows ON, of each source in FROM.
    pub(super) fn names_in_joins(&self) -> Vec<Vec<Mention>> {
        let tokens: Vec<&Token> = self.within(&self.from).skip(1).collect();
        let (mut sources, mut on, mut depth) = (Vec::new(), None, 0_usize);
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TK_LP => depth += 1,
                TK_RP => depth = depth.saturating_sub(1),
                TK_ON if depth == 0 => on = Some(at + 1),
                TK_JOIN | TK_COMMA if depth == 0 => {
                    sources.push(mentions(self.sql, &tokens[on.take().unwrap_or(at)..at]));
                }
                _ => {}
            }
        }
        sources.push(mentions(self.sql, &tokens[on.unwrap_or(tokens.len())..]));
        sources
    }

    /// A SELECT of these columns from the first sources, so many, on one condition.
    pub(super) fn of_first_sources(&self, sources: usize, columns: &[String], condition: &str) -> String {
        let tokens: Vec<Token> = self.within(&self.from).skip(1).cloned().collect();
        let (parts, _) = cut_at(&tokens, |kind| matches!(kind, TK_JOIN | TK_COMMA));
        let mut last = parts.get(sources.wrapping_sub(1)).copied().unwrap_or_default();
        // What stands before JOIN belongs to the next one.
        while let [rest @ .., word] = last
            && word.kind == TK_JOIN_KW
            && sources < parts.len()
        {
            last = rest;
        }
        let from = &self.sql[self.from.start..span(last).end.max(self.from.start)];
        let with = &self.sql[self.with.clone()];
        format!("{with} SELECT {} {from} WHERE {condition}", columns.join(", "))
    }

    fn within<'c>(&'c self, span: &'c Range<usize>) -> impl Iterator<Item = &'c Token> {
        self.tokens
            .iter()
            .filter(|token| span.contains(&token.span.start))
    }

    /// The statement without ORDER BY and LIMIT, and with further columns of the result.
    pub(super) fn all_rows(&self, more: &[String]) -> String {
        let condition = self.condition.clone().map(|condition| &self.sql[condition]);
        let condition = condition.map_or_else(String::new, |condition| format!(" WHERE {condition}"));
        format!("{}{condition}", self.start(more))
    }

    /// The statement with further columns of the result and a further condition, in no order. `before` stands before the
    /// condition of the statement.
    pub(super) fn some_rows(&self, more: &[String], before: &[String], condition: &str) -> String {
        let before: String = before.iter().map(|term| format!("{term} AND ")).collect();
        let own = self.condition.clone().map(|own| &self.sql[own]);
        let own = own.map_or_else(String::new, |own| format!("({own}) AND "));
        format!("{} WHERE {before}{own}{condition}", self.start(more))
    }

    fn start(&self, more: &[String]) -> String {
        let (select, from) = (&self.sql[self.select.clone()], &self.sql[self.from.clone()]);
        let more: String = more.iter().map(|column| format!(", {column}")).collect();
        let with = match &self.sql[self.with.clone()] {
            "" => String::new(),
            with => format!("{with} "),
        };
        format!("{with}{select}{more} {from}")
    }
}

/// The arms of a statement, as texts; ORDER BY and LIMIT stand behind the last one.
///
/// # Errors
/// Something else than UNION ALL stands between them.
pub(super) fn arms(sql: &str) -> Result<Vec<&str>, Refused> {
    let tokens = tokens(sql)?;
    let arms = split(&tokens, |kind| {
        matches!(kind, TK_UNION | TK_EXCEPT | TK_INTERSECT)
    });
    if arms.len() > 1 && tokens[0].kind == TK_WITH {
        return Err("it is a compound SELECT with tables of its own");
    }
    let mut texts = Vec::new();
    for (at, arm) in arms.into_iter().enumerate() {
        texts.push(match arm {
            arm if at == 0 => &sql[span(arm)],
            [union, all, arm @ ..] if union.kind == TK_UNION && all.kind == TK_ALL => &sql[span(arm)],
            _ => return Err("it is a compound SELECT, and not by UNION ALL"),
        });
    }
    Ok(texts)
}

pub(super) fn tokens(sql: &str) -> Result<Vec<Token>, Refused> {
    let mut scanner = Scanner::new(Tokenizer::new());
    let mut tokens = Vec::new();
    loop {
        let (start, token, end) = scanner.scan(sql.as_bytes()).map_err(|_| UNREADABLE)?;
        let Some((_, kind)) = token else { break };
        tokens.push(Token {
            kind,
            span: start..end,
        });
    }
    while tokens.last().is_some_and(|token| token.kind == TK_SEMI) {
        tokens.pop();
    }
    Ok(tokens)
}

/// Cuts before each token outside of parentheses that begins a part.
pub(super) fn split(tokens: &[Token], begins: impl Fn(TokenType) -> bool) -> Vec<&[Token]> {
    let (mut depth, mut parts, mut start) = (0_usize, Vec::new(), 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TK_LP => depth += 1,
            TK_RP => depth = depth.saturating_sub(1),
            kind if depth == 0 && begins(kind) && at > start => {
                parts.push(&tokens[start..at]);
                start = at;
            }
            _ => {}
        }
    }
    if start < tokens.len() {
        parts.push(&tokens[start..]);
    }
    parts
}

/// Cuts at each token outside of parentheses that separates two parts; gives the separators, too.
pub(super) fn cut_at(
    tokens: &[Token],
    separates: impl Fn(TokenType) -> bool,
) -> (Vec<&[Token]>, Vec<TokenType>) {
    let parts = split(tokens, &separates).into_iter();
    let (mut cut, mut separators) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            [first, rest @ ..] if separates(first.kind) => {
                separators.push(first.kind);
                cut.push(rest);
            }
            part => cut.push(part),
        }
    }
    (cut, separators)
}

pub(super) fn span(tokens: &[Token]) -> Range<usize> {
    match tokens {
        [first, .., last] => first.span.start..last.span.end,
        [only] => only.span.clone(),
        [] => 0..0,
    }
}

pub(super) fn terms<'s>(sql: &'s str, tokens: &[Token]) -> Result<Vec<Term<'s>>, Refused> {
    let (parts, _) = cut_at(tokens, |kind| kind == TK_COMMA);
    parts.into_iter().map(|part| term(sql, part)).collect()
}

/// What stands between commas outside of parentheses.
pub(super) fn listed(tokens: &[Token]) -> Vec<&[Token]> {
    cut_at(tokens, |kind| kind == TK_COMMA).0
}

fn term<'s>(sql: &'s str, tokens: &[Token]) -> Result<Term<'s>, Refused> {
    let kinds = |count: usize, tokens: &[Token]| -> Vec<TokenType> {
        let from = tokens.len().saturating_sub(count);
        tokens[from..].iter().map(|token| token.kind).collect()
    };
    let mut value = tokens;
    let nulls_last = match kinds(2, value)[..] {
        [TK_NULLS, TK_FIRST] => Some(false),
        [TK_NULLS, TK_LAST] => Some(true),
        _ => None,
    };
    value = &value[..value.len() - 2 * usize::from(nulls_last.is_some())];
    let direction = match kinds(1, value)[..] {
        [TK_ASC] => Some(false),
        [TK_DESC] => Some(true),
        _ => None,
    };
    value = &value[..value.len() - usize::from(direction.is_some())];
    let mut collation = None;
    if let [rest @ .., collate, name] = value
        && collate.kind == TK_COLLATE
        && is_operand(sql, rest)
    {
        collation = Some(unquoted(&sql[name.span.clone()]).to_ascii_uppercase());
        value = rest;
    }
    if value.is_empty() {
        return Err(NO_PLAIN);
    }
    let descending = direction == Some(true);
    Ok(Term {
        text: &sql[span(tokens)],
        value: &sql[span(value)],
        meaning: meaning(sql, value),
        collation,
        descending,
        nulls_last: nulls_last.unwrap_or(descending),
        mentions: mentions(sql, &value.iter().collect::<Vec<_>>()),
    })
}

/// Whether COLLATE behind these tokens applies to all of them. It binds more tightly than any operator: in
/// `a = b COLLATE NOCASE`, it decides how `b` is compared.
fn is_operand(sql: &str, tokens: &[Token]) -> bool {
    let is_enclosed = |tokens: &[Token]| match tokens {
        [open, inner @ .., close] => open.kind == TK_LP && close.kind == TK_RP && closes(inner),
        _ => false,
    };
    match tokens {
        [_] => true,
        [_, dot, _] if dot.kind == TK_DOT => true,
        [_, dot, _, last, _] if dot.kind == TK_DOT && last.kind == TK_DOT => true,
        [function, arguments @ ..] => {
            is_enclosed(tokens) || name(sql, function).is_some() && is_enclosed(arguments)
        }
        [] => false,
    }
}

pub(super) fn meaning(sql: &str, tokens: &[Token]) -> Meaning {
    let text = |token: &Token| &sql[token.span.clone()];
    match tokens {
        // SQLite looks through these.
        [open, inner @ .., close] if open.kind == TK_LP && closes(inner) && close.kind == TK_RP => {
            meaning(sql, inner)
        }
        [plus, inner @ ..] if plus.kind == TK_PLUS && !inner.is_empty() => match meaning(sql, inner) {
            Meaning::Name(_) | Meaning::Qualified => Meaning::Expression,
            other => other,
        },
        [minus, ..] if minus.kind == TK_MINUS => {
            let number = folded(sql, tokens).and_then(|number| usize::try_from(number).ok());
            number.map_or(Meaning::Expression, Meaning::Ordinal)
        }
        [one] if one.kind == TK_INTEGER => integer(text(one)).map_or(Meaning::Expression, Meaning::Ordinal),
        [one] => name(sql, one).map_or(Meaning::Expression, Meaning::Name),
        [table, dot, column] if dot.kind == TK_DOT && name(sql, table).and(name(sql, column)).is_some() => {
            Meaning::Qualified
        }
        // A column keeps its affinity with the name of its schema, too.
        [schema, dot, _, last, _] if [dot.kind, last.kind] == [TK_DOT; 2] && name(sql, schema).is_some() => {
            meaning(sql, &tokens[2..])
        }
        [function, ..] if HINTS.iter().any(|hint| hint.eq_ignore_ascii_case(text(function))) => {
            Meaning::Hidden
        }
        _ => Meaning::Expression,
    }
}

/// The number that SQLite makes of signs and an integer: `- -2` is 2.
fn folded(sql: &str, tokens: &[Token]) -> Option<i64> {
    match tokens {
        [open, inner @ .., close] if open.kind == TK_LP && close.kind == TK_RP && closes(inner) => {
            folded(sql, inner)
        }
        [plus, inner @ ..] if plus.kind == TK_PLUS => folded(sql, inner),
        [minus, inner @ ..] if minus.kind == TK_MINUS => folded(sql, inner)?.checked_neg(),
        [one] if one.kind == TK_INTEGER => i64::try_from(integer(&sql[one.span.clone()])?).ok(),
        _ => None,
    }
}

/// Functions that give their first argument, which SQLite looks through.
const HINTS: [&str; 3] = ["likely", "unlikely", "likelihood"];

/// Whether the parentheses of these tokens belong together.
pub(super) fn closes(tokens: &[Token]) -> bool {
    let mut depth = 0;
    let goes_on = |token: &Token| {
        depth += i32::from(token.kind == TK_LP) - i32::from(token.kind == TK_RP);
        depth >= 0
    };
    tokens.iter().all(goes_on)
}

fn integer(text: &str) -> Option<usize> {
    let text = text.replace('_', "");
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => usize::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The name that a token is. Many keywords are names where they can be nothing else.
pub(super) fn name(sql: &str, token: &Token) -> Option<String> {
    let text = &sql[token.span.clone()];
    let first = text.chars().next()?;
    let is_name = token.kind == TK_ID || (token.kind != TK_BLOB && (first.is_alphabetic() || first == '_'));
    is_name.then(|| unquoted(text).into_owned())
}

/// All names but those of tables before a dot.
pub(super) fn mentions(sql: &str, tokens: &[&Token]) -> Vec<Mention> {
    let is_dot = |at: usize| tokens.get(at).is_some_and(|token| token.kind == TK_DOT);
    // Beside a dot, a text is a name.
    let beside_dot = |at: usize| match tokens[at].kind {
        TK_STRING => Some(unquoted(&sql[tokens[at].span.clone()]).into_owned()),
        _ => name(sql, tokens[at]),
    };
    let mut mentions = Vec::new();
    for at in (0..tokens.len()).filter(|&at| !is_dot(at + 1)) {
        let is_qualified = at >= 2 && is_dot(at - 1);
        let (table, name) = match is_qualified {
            true => (beside_dot(at - 2), beside_dot(at)),
            false => (None, name(sql, tokens[at])),
        };
        mentions.extend(name.map(|name| Mention { table, name }));
    }
    mentions
}

#[cfg(test)]
mod tests {
    use super::{Clauses, Meaning, Mention};

    fn all_rows(sql: &str) -> String {
        Clauses::cut(sql).unwrap().all_rows(&["t.rowid".into()])
    }

    fn some_rows(sql: &str) -> String {
        Clauses::cut(sql)
            .unwrap()
            .some_rows(&["t.rowid".into()], &[], "t.rowid = ?1")
    }

    #[test]
    fn further_columns_stand_behind_those_of_the_statement() {
        assert_eq!(
            all_rows("SELECT a FROM t WHERE b = 1 ORDER BY c DESC ;"),
            "SELECT a, t.rowid FROM t WHERE b = 1"
        );
        assert_eq!(all_rows("select * from t"), "select *, t.rowid from t");
    }

    #[test]
    fn a_further_condition_joins_the_condition_of_the_statement() {
        assert_eq!(
            some_rows("SELECT a FROM t WHERE b = 1 OR c ORDER BY c"),
            "SELECT a, t.rowid FROM t WHERE (b = 1 OR c) AND t.rowid = ?1"
        );
        assert_eq!(
            some_rows("SELECT a FROM t"),
            "SELECT a, t.rowid FROM t WHERE t.rowid = ?1"
        );
    }

    #[test]
    fn comments_between_clauses_are_left_out_and_those_inside_stay_closed() {
        assert_eq!(
            some_rows("SELECT a -- FROM x\n FROM t -- more\n WHERE /* b */ b = 1 -- end"),
            "SELECT a, t.rowid FROM t WHERE (b = 1) AND t.rowid = ?1"
        );
        assert_eq!(
            some_rows("SELECT a, -- one\n b FROM t"),
            "SELECT a, -- one\n b, t.rowid FROM t WHERE t.rowid = ?1"
        );
    }

    #[test]
    fn words_in_parentheses_and_quotes_begin_no_clause() {
        let sql = "SELECT (1), 'FROM', \"where\" FROM t WHERE x IN (1, 2) AND y = 'ORDER BY'";
        assert!(some_rows(sql).ends_with("FROM t WHERE (x IN (1, 2) AND y = 'ORDER BY') AND t.rowid = ?1"));
    }

    #[test]
    fn what_is_no_plain_select_is_refused() {
        for sql in [
            "SELECT 1",
            "SELECT DISTINCT a FROM t",
            "SELECT a IS NOT DISTINCT FROM b FROM t",
            "VALUES (1)",
            "SELECT a FROM t WHERE",
            "SELECT a FROM t ORDER BY",
            "SELECT 'a FROM t",
            "",
        ] {
            assert!(Clauses::cut(sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn names_and_numbers_are_found_where_sqlite_finds_them() {
        let sql = "SELECT 1 FROM t ORDER BY (a), ((2)), +3, (+0x4), - -5, -(-6), key, +a, -1, (a) + (b), ('a'), likely(a), x'61', t.a, main.t.a";
        let terms = Clauses::cut(sql).unwrap().order;
        let meanings: Vec<_> = terms.into_iter().map(|term| term.meaning).collect();
        assert_eq!(
            meanings,
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
            ]
        );
    }

    #[test]
    fn conditions_tell_which_names_they_mention() {
        let sql = "SELECT 1 FROM t, u LEFT JOIN v ON v.a = u.b AND c LEFT JOIN (w) USING (d) JOIN x ON 'e' WHERE \"f\".g";
        let clauses = Clauses::cut(sql).unwrap();
        let of_interest = |mentions: Vec<Mention>| -> Vec<String> {
            let full = |one: Mention| {
                one.table
                    .map_or(one.name.clone(), |table| format!("{table}.{}", one.name))
            };
            let keywords = ["AND", "LEFT"];
            mentions
                .into_iter()
                .map(full)
                .filter(|name| !keywords.contains(&name.as_str()))
                .collect()
        };
        assert_eq!(of_interest(clauses.names_in_condition()), ["f.g"]);
        let joins: Vec<_> = clauses.names_in_joins().into_iter().map(of_interest).collect();
        assert_eq!(
            joins,
            [
                vec![],
                vec![],
                vec!["v.a".to_owned(), "u.b".into(), "c".into()],
                vec![],
                vec![]
            ]
        );
    }

    #[test]
    fn a_collation_of_an_operand_is_none_of_the_term() {
        let collation = |term: &str| {
            let sql = format!("SELECT 1 FROM t ORDER BY {term} COLLATE nocase DESC");
            Clauses::cut(&sql).unwrap().order.remove(0).collation
        };
        for term in [
            "a",
            "t.b",
            "main.t.b",
            "2",
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
            "-a",
            "(a) < (b)",
            "a IN (b)",
            "f(a) = (b)",
            "a COLLATE rtrim",
        ] {
            assert_eq!(collation(term), None, "{term}");
        }
    }

    #[test]
    fn terms_say_what_they_order_by_and_how() {
        let sql = "SELECT * FROM t ORDER BY 2, a, t.b COLLATE nocase DESC, lower(a, b) ASC NULLS LAST, \"c d\" DESC NULLS FIRST";
        let terms = Clauses::cut(sql).unwrap().order;
        let told: Vec<_> = terms
            .iter()
            .map(|term| {
                (
                    term.value,
                    term.collation.as_deref(),
                    term.descending,
                    term.nulls_last,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("2", None, false, false),
                ("a", None, false, false),
                ("t.b", Some("NOCASE"), true, true),
                ("lower(a, b)", None, false, true),
                ("\"c d\"", None, true, false),
            ]
        );
        let meanings: Vec<_> = terms.into_iter().map(|term| term.meaning).collect();
        assert_eq!(
            meanings,
            [
                Meaning::Ordinal(2),
                Meaning::Name("a".into()),
                Meaning::Qualified,
                Meaning::Expression,
                Meaning::Name("c d".into()),
            ]
        );
    }
}
