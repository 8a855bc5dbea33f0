//! Which SQL may share a transaction with other writes, judged by its first words.

/// Statements that SQLite refuses inside a transaction, that mean something else there, or that manage
/// transactions themselves.
const ALONE: [&str; 10] = [
    "VACUUM",
    "PRAGMA",
    "ATTACH",
    "DETACH",
    "BEGIN",
    "COMMIT",
    "END",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
];

/// Whether a single statement must run outside the transactions that resqlite opens.
pub(super) fn statement_runs_alone(sql: &str) -> bool {
    let first = (Words { rest: sql }).find(|token| !matches!(token, Token::End));
    matches!(first, Some(Token::Word(word)) if is_alone(word))
}

fn is_alone(word: &str) -> bool {
    ALONE.iter().any(|alone| alone.eq_ignore_ascii_case(word))
}

/// Whether a script must run outside the transactions that resqlite opens. Doubt about where a statement starts only
/// costs it its all-or-nothing.
pub(super) fn script_runs_alone(sql: &str) -> bool {
    let mut start = true;
    let mut trigger = Trigger::No;
    for token in (Words { rest: sql }) {
        match token {
            Token::End => {
                start = !matches!(trigger, Trigger::Body { .. });
                if start {
                    trigger = Trigger::No;
                }
            }
            Token::Word(word) => {
                if start && is_alone(word) {
                    return true;
                }
                trigger = trigger.after(word, start);
                start = false;
            }
            Token::Other => start = false,
        }
    }
    false
}

/// The body of CREATE TRIGGER holds semicolons and ends with END.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trigger {
    No,
    /// After CREATE, with TEMP and TEMPORARY skipped.
    Create,
    /// After CREATE TRIGGER, inside so many CASE expressions, which have an END of their own.
    Body {
        cases: usize,
    },
    /// After the END of the body.
    Closed,
}

impl Trigger {
    fn after(self, word: &str, start: bool) -> Self {
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        match self {
            Self::No if start && is("CREATE") => Self::Create,
            Self::Create if is("TEMP") || is("TEMPORARY") => Self::Create,
            Self::Create if is("TRIGGER") => Self::Body { cases: 0 },
            Self::Body { cases } if is("CASE") => Self::Body { cases: cases + 1 },
            Self::Body { cases: 0 } if is("END") => Self::Closed,
            Self::Body { cases } if is("END") => Self::Body { cases: cases - 1 },
            Self::Body { .. } => self,
            _ => Self::No,
        }
    }
}

enum Token<'a> {
    Word(&'a str),
    End,
    Other,
}

/// Splits SQL into words, ends of statements and the rest; comments and quoted text are skipped over.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            self.rest = self.rest.trim_start();
            let first = self.rest.chars().next()?;
            if self.rest.starts_with("--") {
                self.skip_past("\n", 2);
            } else if self.rest.starts_with("/*") {
                self.skip_past("*/", 2);
            } else {
                return Some(self.token(first));
            }
        }
    }
}

impl<'a> Words<'a> {
    fn token(&mut self, first: char) -> Token<'a> {
        match first {
            ';' => {
                self.rest = &self.rest[1..];
                Token::End
            }
            '\'' | '"' | '`' => {
                self.skip_past(first.encode_utf8(&mut [0; 4]), 1);
                Token::Other
            }
            '[' => {
                self.skip_past("]", 1);
                Token::Other
            }
            _ if first.is_alphabetic() || first == '_' => {
                let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                let length = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(length);
                self.rest = rest;
                Token::Word(word)
            }
            _ => {
                self.rest = &self.rest[first.len_utf8()..];
                Token::Other
            }
        }
    }

    fn skip_past(&mut self, end: &str, from: usize) {
        let found = self.rest[from..].find(end).map(|at| from + at + end.len());
        self.rest = &self.rest[found.unwrap_or(self.rest.len())..];
    }
}

#[cfg(test)]
mod tests {
    use super::{script_runs_alone, statement_runs_alone};

    #[test]
    fn writes_and_definitions_share_transactions() {
        for sql in [
            "INSERT INTO t VALUES (1)",
            "WITH x AS (SELECT 1) DELETE FROM t",
            "CREATE TABLE t(a); INSERT INTO t VALUES ('BEGIN; COMMIT'); -- VACUUM",
            "/* PRAGMA */ UPDATE t SET a = 1",
            "SELECT * FROM \"a;VACUUM\"",
        ] {
            assert!(!script_runs_alone(sql), "{sql}");
        }
    }

    #[test]
    fn the_end_of_a_trigger_is_no_statement() {
        let trigger = "CREATE TEMP TRIGGER a AFTER INSERT ON t BEGIN
            UPDATE t SET x = CASE WHEN 1 THEN 2 END; DELETE FROM u; END;";
        assert!(!script_runs_alone(trigger));
        assert!(!script_runs_alone(&format!(
            "{trigger} INSERT INTO t VALUES (1); {trigger}"
        )));
        assert!(script_runs_alone(&format!("{trigger} VACUUM")));
    }

    #[test]
    fn what_manages_transactions_or_the_connection_runs_alone() {
        for sql in [
            "VACUUM",
            " ; ;pragma user_version = 1",
            "-- first\nAttach 'x' AS y",
            "INSERT INTO t VALUES (1); BEGIN; COMMIT",
            "/**/SAVEPOINT a",
        ] {
            assert!(script_runs_alone(sql), "{sql}");
        }
    }

    #[test]
    fn a_single_statement_is_judged_by_its_first_word() {
        assert!(statement_runs_alone(" /* no */ ; -- no\n vacuum"));
        assert!(!statement_runs_alone("INSERT INTO t VALUES (1) -- VACUUM"));
        assert!(!statement_runs_alone("'VACUUM'"));
        assert!(!statement_runs_alone(""));
    }
}
