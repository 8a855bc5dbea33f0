//! Reads the tokens of a statement, to number its parameters and count its SELECTs.

use sqlite3_parser::{
    dialect::TokenType::{self, *},
    lexer::{Scanner, sql::Tokenizer},
};

use super::names::unquoted;

/// A statement in which every plain `?` has the number that SQLite assigns to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) sql: String,
    /// Names of parameters, with their prefix, and their numbers.
    pub(crate) names: Vec<(String, usize)>,
    /// The largest number of a parameter.
    pub(crate) count: usize,
    /// The number of times that SELECT or VALUES occurs.
    pub(crate) arms: usize,
    /// The LIMIT of the whole statement names its offset first, as in `LIMIT 5, 10`. The parser mistakes the 5 for the limit.
    pub(crate) offset_first: bool,
}

/// Numbers the parameters of a statement.
///
/// # Errors
/// The reason why the conditions of the statement are not used.
pub(crate) fn number(sql: &str) -> Result<Numbered, &'static str> {
    let mut scanner = Scanner::new(Tokenizer::new());
    let mut numbered = Numbered {
        sql: String::with_capacity(sql.len() + 16),
        names: Vec::new(),
        count: 0,
        arms: 0,
        offset_first: false,
    };
    let (mut copied, mut depth, mut is_limit) = (0, 0_usize, false);
    loop {
        let (start, token, end) = scanner.scan(sql.as_bytes()).map_err(|_| UNREADABLE)?;
        let Some((_, kind)) = token else { break };
        match kind {
            TK_SELECT | TK_VALUES => numbered.arms += 1,
            TK_LP => depth += 1,
            TK_RP => depth = depth.saturating_sub(1),
            TK_LIMIT => is_limit = depth == 0,
            TK_COMMA => numbered.offset_first |= is_limit && depth == 0,
            _ => {}
        }
        if kind == TK_VARIABLE {
            let number = numbered.parameter(&sql[start..end])?;
            if end - start == 1 {
                numbered.sql.push_str(&sql[copied..start]);
                numbered.sql.push_str(&format!("?{number}"));
                copied = end;
            }
        }
    }
    numbered.sql.push_str(&sql[copied..]);
    Ok(numbered)
}

/// Returns whether a text has a token of this kind.
pub(crate) fn has(sql: &str, kind: TokenType) -> bool {
    has_token(sql, |found, _| found == kind)
}

/// Returns whether a text has this name in quotes.
pub(crate) fn has_quoted(sql: &str, name: &str) -> bool {
    has_token(sql, |_, text| {
        let inner = unquoted(text);
        inner.len() < text.len() && inner.eq_ignore_ascii_case(name)
    })
}

fn has_token(sql: &str, is_it: impl Fn(TokenType, &str) -> bool) -> bool {
    let mut scanner = Scanner::new(Tokenizer::new());
    loop {
        match scanner.scan(sql.as_bytes()) {
            Ok((start, Some((_, kind)), end)) if !is_it(kind, &sql[start..end]) => {}
            Ok((_, found, _)) => return found.is_some(),
            // A text that cannot be read may contain any token.
            Err(_) => return true,
        }
    }
}

/// Returns whether two texts that were printed from trees mean the same. Case matters only in string literals and in names
/// of parameters.
pub(crate) fn is_same(left: &str, right: &str) -> bool {
    let mut scanner = Scanner::new(Tokenizer::new());
    let mut is_same_word = || match scanner.scan(left.as_bytes()) {
        Ok((start, Some((_, TK_STRING | TK_VARIABLE)), end)) => Some(left[start..end] == right[start..end]),
        Ok((_, Some(_), _)) => Some(true),
        Ok((_, None, _)) => None,
        Err(_) => Some(false),
    };
    left.eq_ignore_ascii_case(right) && std::iter::from_fn(&mut is_same_word).all(|is_same| is_same)
}

pub(crate) const UNREADABLE: &str = "the statement could not be parsed";

impl Numbered {
    /// Returns the number of the next parameter in the text, by SQLite's rules.
    fn parameter(&mut self, token: &str) -> Result<usize, &'static str> {
        let number = match token.strip_prefix('?') {
            Some("") => self.count + 1,
            Some(digits) => digits.parse().map_err(|_| UNREADABLE)?,
            None => match self.number_of(token) {
                Some(number) => number,
                None => {
                    self.names.push((token.to_owned(), self.count + 1));
                    self.count + 1
                }
            },
        };
        self.count = self.count.max(number);
        Ok(number)
    }

    /// Returns the statement with numbers in place of the names of parameters.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub(crate) fn by_number(&self, text: &str) -> Result<String, &'static str> {
        let mut scanner = Scanner::new(Tokenizer::new());
        let (mut sql, mut copied) = (String::with_capacity(text.len()), 0);
        loop {
            let (start, token, end) = scanner.scan(text.as_bytes()).map_err(|_| UNREADABLE)?;
            let Some((_, kind)) = token else { break };
            if kind == TK_VARIABLE && !text[start..end].starts_with('?') {
                let number = self.number_of(&text[start..end]).ok_or(UNREADABLE)?;
                sql.push_str(&text[copied..start]);
                sql.push_str(&format!("?{number}"));
                copied = end;
            }
        }
        sql.push_str(&text[copied..]);
        Ok(sql)
    }

    /// The number of a named parameter.
    pub(super) fn number_of(&self, name: &str) -> Option<usize> {
        let known = self.names.iter().find(|(known, _)| known == name);
        known.map(|(_, number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    fn numbered(sql: &str) -> String {
        number(sql).unwrap().sql
    }

    #[test]
    fn a_plain_question_mark_gets_the_number_after_the_largest_so_far() {
        assert_eq!(numbered("SELECT ?, ?"), "SELECT ?1, ?2");
        assert_eq!(numbered("SELECT ?5, ?, ?2, ?"), "SELECT ?5, ?6, ?2, ?7");
        assert_eq!(numbered("SELECT :a, ?, @b, :a, ?"), "SELECT :a, ?2, @b, :a, ?4");
        assert_eq!(numbered("SELECT a FROM t"), "SELECT a FROM t");
    }

    #[test]
    fn question_marks_in_text_names_and_comments_are_no_parameters() {
        let sql = "SELECT '?', \"?\", [?], `?` -- ?\n/* ? */";
        assert_eq!(numbered(sql), sql);
        assert_eq!(number(sql).unwrap().count, 0);
    }

    #[test]
    fn names_are_numbered_where_they_come_first() {
        let numbered = number("SELECT ?3, $a, :a, $a").unwrap();
        assert_eq!(
            (numbered.number_of("$a"), numbered.number_of(":a")),
            (Some(4), Some(5))
        );
        assert_eq!(numbered.count, 5);
    }

    #[test]
    fn every_select_counts_wherever_it_stands() {
        for (sql, arms) in [
            ("SELECT 1", 1),
            ("SELECT 'SELECT', \"select\" -- select", 1),
            ("SELECT 1 UNION select 2", 2),
            ("SELECT (SELECT 1) FROM (VALUES (1), (2))", 3),
            ("WITH x AS (SELECT 1) SELECT * FROM x WHERE EXISTS (SELECT 1)", 3),
        ] {
            assert_eq!(number(sql).unwrap().arms, arms, "{sql}");
        }
    }

    #[test]
    fn text_that_cannot_be_read_is_refused() {
        for sql in [
            "SELECT 'a",
            "SELECT ?99999999999999999999",
            "SELECT $a::b",
            "SELECT /* a",
        ] {
            assert!(number(sql).is_err(), "{sql}");
        }
    }
}
