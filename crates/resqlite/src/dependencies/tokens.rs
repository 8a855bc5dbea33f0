//! The tokens of a statement: whether it is simple enough, and how its parameters are numbered.

use sqlite3_parser::{
    dialect::TokenType::{self, *},
    lexer::{Scanner, sql::Tokenizer},
};

/// A statement in which every plain `?` has the number that SQLite assigns to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    pub(super) sql: String,
    /// Names of parameters, with their prefix, and their numbers.
    pub(super) names: Vec<(String, usize)>,
    /// The largest number.
    pub(super) count: usize,
}

/// Numbers the parameters of a statement.
///
/// # Errors
/// Why its conditions are not used.
pub(super) fn number(sql: &str) -> Result<Numbered, &'static str> {
    let mut scanner = Scanner::new(Tokenizer::new());
    let mut numbered = Numbered {
        sql: String::with_capacity(sql.len() + 16),
        names: Vec::new(),
        count: 0,
    };
    let (mut copied, mut selects, mut before) = (0, 0, TK_SEMI);
    loop {
        let (start, token, end) = scanner.scan(sql.as_bytes()).map_err(|_| UNREADABLE)?;
        let Some((_, kind)) = token else { break };
        selects += usize::from(kind == TK_SELECT);
        if selects > 1 || is_beyond(kind) {
            return Err("the statement is more than one plain SELECT");
        }
        if before == TK_IN && kind != TK_LP {
            return Err("the statement has IN with a table");
        }
        if kind == TK_VARIABLE {
            let number = numbered.parameter(&sql[start..end])?;
            if end - start == 1 {
                numbered.sql.push_str(&sql[copied..start]);
                numbered.sql.push_str(&format!("?{number}"));
                copied = end;
            }
        }
        before = kind;
    }
    numbered.sql.push_str(&sql[copied..]);
    Ok(numbered)
}

pub(super) const UNREADABLE: &str = "the statement could not be parsed";

/// Words of statements in which a condition says less than it seems to.
fn is_beyond(kind: TokenType) -> bool {
    matches!(
        kind,
        TK_WITH | TK_VALUES | TK_UNION | TK_EXCEPT | TK_INTERSECT | TK_EXISTS | TK_USING
    )
}

impl Numbered {
    /// The number of the next parameter in the text, by SQLite's rules.
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
    fn statements_with_more_than_one_select_are_refused() {
        for sql in [
            "SELECT 1 UNION SELECT 2",
            "SELECT (SELECT 1)",
            "WITH x AS (SELECT 1) SELECT * FROM x",
            "VALUES (1)",
            "SELECT 1 FROM (VALUES (1))",
            "SELECT 1 FROM a JOIN b USING (c)",
            "SELECT 1 FROM a WHERE EXISTS (SELECT 1)",
            "SELECT 1 FROM a WHERE b IN c",
        ] {
            assert!(number(sql).is_err(), "{sql}");
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
