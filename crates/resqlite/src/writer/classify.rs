//! Decides by its first words whether SQL may share a transaction with other writes.

use sqlite3_parser::dialect::TokenType::{self, *};

use crate::{connection::encryption::url_has_key, core::tokens::tokens};

/// Returns whether a statement that begins with this token cannot share a transaction. SQLite refuses the statement in a
/// transaction, the statement has another meaning there, or it manages transactions itself.
pub(crate) fn runs_unwrapped(first: TokenType) -> bool {
    matches!(
        first,
        TK_VACUUM
            | TK_PRAGMA
            | TK_ATTACH
            | TK_DETACH
            | TK_BEGIN
            | TK_COMMIT
            | TK_END
            | TK_ROLLBACK
            | TK_SAVEPOINT
            | TK_RELEASE
    )
}

/// Returns whether a single statement must run outside the transactions that resqlite opens.
pub(crate) fn statement_runs_unwrapped(sql: &str) -> bool {
    let first = tokens(sql).find(|(token, _)| *token != TK_SEMI);
    first.is_some_and(|(token, _)| runs_unwrapped(token))
}

/// Returns whether a script must run outside the transactions that resqlite opens. If the start of a statement is misjudged, the
/// script only loses its guarantee of all or nothing.
pub(crate) fn script_runs_unwrapped(sql: &str) -> bool {
    let mut start = true;
    let mut trigger = Trigger::No;
    for (token, _) in tokens(sql) {
        if token == TK_SEMI {
            start = !matches!(trigger, Trigger::Body { .. });
            if start {
                trigger = Trigger::No;
            }
            continue;
        }
        if start && runs_unwrapped(token) {
            return true;
        }
        trigger = trigger.after(token, start);
        start = false;
    }
    false
}

/// Returns whether the text of an ATTACH or VACUUM has a key, in a KEY clause or in the URL of the file. Also returns true if it
/// may have one, because the URL is put together from parts.
pub(super) fn has_key(script: &str) -> bool {
    let (mut start, mut names_file, mut has_url, mut before) = (true, false, false, TK_SEMI);
    for (token, text) in tokens(script) {
        if start {
            (names_file, has_url) = (false, false);
        }
        names_file |= matches!(token, TK_ATTACH | TK_VACUUM) && (start || before == TK_EXPLAIN);
        start = token == TK_SEMI;
        let text = std::str::from_utf8(text)
            .unwrap_or_default()
            .trim_matches(['\'', '"', '`', '[', ']']);
        has_url |= text
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
        let is_key = match token {
            // After AS, KEY is a name.
            TK_KEY => before != TK_AS,
            TK_CONCAT => has_url,
            _ => url_has_key(text),
        };
        if names_file && is_key {
            return true;
        }
        before = token;
    }
    false
}

/// The body of CREATE TRIGGER holds semicolons and ends with END.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trigger {
    No,
    /// After CREATE, with TEMP and TEMPORARY skipped.
    Create,
    /// After CREATE TRIGGER, inside `cases` CASE expressions, each with an END of its own.
    Body {
        cases: usize,
    },
    /// After the END of the body.
    Closed,
}

impl Trigger {
    fn after(self, token: TokenType, start: bool) -> Self {
        match (self, token) {
            (Self::No, TK_CREATE) if start => Self::Create,
            (Self::Create, TK_TEMP) => Self::Create,
            (Self::Create, TK_TRIGGER) => Self::Body { cases: 0 },
            (Self::Body { cases }, TK_CASE) => Self::Body { cases: cases + 1 },
            (Self::Body { cases: 0 }, TK_END) => Self::Closed,
            (Self::Body { cases }, TK_END) => Self::Body { cases: cases - 1 },
            (Self::Body { .. }, _) => self,
            _ => Self::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{has_key, script_runs_unwrapped, statement_runs_unwrapped};

    #[test]
    fn writes_and_definitions_share_transactions() {
        for sql in [
            "INSERT INTO t VALUES (1)",
            "WITH x AS (SELECT 1) DELETE FROM t",
            "CREATE TABLE t(a); INSERT INTO t VALUES ('BEGIN; COMMIT'); -- VACUUM",
            "/* PRAGMA */ UPDATE t SET a = 1",
            "SELECT * FROM \"a;VACUUM\"",
        ] {
            assert!(!script_runs_unwrapped(sql), "{sql}");
        }
    }

    #[test]
    fn the_end_of_a_trigger_is_no_statement() {
        let trigger = "CREATE TEMP TRIGGER a AFTER INSERT ON t BEGIN
            UPDATE t SET x = CASE WHEN 1 THEN 2 END; DELETE FROM u; END;";
        assert!(!script_runs_unwrapped(trigger));
        assert!(!script_runs_unwrapped(&format!(
            "{trigger} INSERT INTO t VALUES (1); {trigger}"
        )));
        assert!(script_runs_unwrapped(&format!("{trigger} VACUUM")));
    }

    #[test]
    fn what_manages_transactions_or_the_connection_runs_unwrapped() {
        for sql in [
            "VACUUM",
            " ; ;pragma user_version = 1",
            "-- first\nAttach 'x' AS y",
            "INSERT INTO t VALUES (1); BEGIN; COMMIT",
            "/**/SAVEPOINT a",
        ] {
            assert!(script_runs_unwrapped(sql), "{sql}");
        }
    }

    #[test]
    fn a_single_statement_is_judged_by_its_first_word() {
        assert!(statement_runs_unwrapped(" /* no */ ; -- no\n vacuum"));
        assert!(!statement_runs_unwrapped("INSERT INTO t VALUES (1) -- VACUUM"));
        assert!(!statement_runs_unwrapped("'VACUUM'"));
        assert!(!statement_runs_unwrapped(""));
    }

    #[test]
    fn text_that_is_not_closed_says_nothing() {
        for sql in [
            "SELECT 'a; VACUUM",
            "SELECT [a; VACUUM",
            "SELECT 1 /* ; VACUUM",
            "/* VACUUM",
            "-- VACUUM",
        ] {
            assert!(!script_runs_unwrapped(sql), "{sql}");
            assert!(!statement_runs_unwrapped(sql), "{sql}");
        }
    }

    #[test]
    fn keys_are_found_however_they_are_written() {
        for sql in [
            "ATTACH 'a.db' AS b KEY 'secret'",
            "ATTACH 'file:a.db?key=secret' AS b",
            "ATTACH \"file:a.db?key=secret\" AS b",
            "ATTACH 'FILE:a.db?mode=rw&hexkey=5ec' AS b",
            "ATTACH 'file:a.db?%6bey=secret' AS b",
            "ATTACH ('file:a.db?k' || 'ey=secret') AS b",
            "SELECT 1; VACUUM main INTO 'file:a.db?key=secret'",
            "EXPLAIN VACUUM INTO 'file:a.db?key=secret'",
        ] {
            assert!(has_key(sql), "{sql}");
        }
        for sql in [
            "ATTACH 'file:a.db?mode=ro' AS key",
            "ATTACH 'key=a.db' AS b",
            "VACUUM INTO ('a' || 'b')",
            "VACUUM INTO ?; INSERT INTO t VALUES ('file:a.db?key=secret')",
            "CREATE TABLE t(key)",
        ] {
            assert!(!has_key(sql), "{sql}");
        }
    }

    #[test]
    fn characters_that_begin_no_token_are_skipped() {
        assert!(script_runs_unwrapped("SELECT $a::b(c), 1 ! 2; VACUUM"));
        assert!(!statement_runs_unwrapped("^ VACUUM"));
    }
}
