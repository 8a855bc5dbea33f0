//! Decides where a statement of any kind is tried first. This is a guess by its first words; SQLite decides in the end.

use sqlite3_parser::dialect::TokenType::{self, *};

use crate::{
    core::tokens::tokens,
    guard::pragmas,
    requests::request::WriteOp,
    writer::{runs_unwrapped, script_runs_unwrapped, statement_runs_unwrapped},
};

impl WriteOp {
    /// Returns whether another copy of the database could run the operation as well. An operation that only reads, has limits, or manages
    /// this connection or this file (PRAGMA, VACUUM, ATTACH, transactions) must run here.
    pub fn can_travel(&self) -> bool {
        let is_plain_write = |sql| looks_like_a_write(sql) && !statement_runs_unwrapped(sql);
        match self {
            Self::Execute { sql, .. }
            | Self::Batch { sql, .. }
            | Self::Query {
                sql, limits: None, ..
            } => is_plain_write(sql),
            Self::Query { .. } => false,
            Self::Script(script) => !script_runs_unwrapped(script),
            Self::Statements(statements) => statements.texts.iter().any(|sql| looks_like_a_write(sql)),
        }
    }
}

/// Returns whether a statement looks like one that writes. If the first keyword alone decides this, the result is right.
pub(super) fn looks_like_a_write(sql: &str) -> bool {
    let mut tokens = tokens(sql).skip_while(|(token, _)| *token == TK_SEMI);
    match tokens.next().map(|(token, _)| token) {
        Some(TK_WITH) => after_with(tokens.map(|(token, _)| token)),
        Some(TK_PRAGMA) => pragma(tokens),
        Some(first) => begins_a_write(first),
        None => false,
    }
}

fn begins_a_write(first: TokenType) -> bool {
    matches!(
        first,
        TK_INSERT
            | TK_REPLACE
            | TK_UPDATE
            | TK_DELETE
            | TK_CREATE
            | TK_DROP
            | TK_ALTER
            | TK_REINDEX
            | TK_ANALYZE
    ) || runs_unwrapped(first)
}

/// Returns whether the statement after the common table expressions writes. These expressions are
/// in parentheses, which are skipped.
fn after_with(tokens: impl Iterator<Item = TokenType>) -> bool {
    let mut depth = 0_usize;
    for token in tokens {
        match token {
            TK_LP => depth += 1,
            TK_RP => depth = depth.saturating_sub(1),
            TK_SELECT | TK_VALUES if depth == 0 => return false,
            TK_INSERT | TK_REPLACE | TK_UPDATE | TK_DELETE if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether a PRAGMA looks like a write. Its forms are `name`, `schema.name`, `name = argument` and `name(argument)`.
fn pragma<'a>(tokens: impl Iterator<Item = (TokenType, &'a [u8])>) -> bool {
    let (mut name, mut argument) = (&[][..], false);
    for (token, text) in tokens {
        match token {
            TK_EQ | TK_LP => argument = true,
            TK_SEMI => break,
            TK_DOT => {}
            _ if !argument => name = text,
            _ => {}
        }
    }
    let name = std::str::from_utf8(name).unwrap_or("");
    !pragmas::only_reports(name, argument)
}

#[cfg(test)]
mod tests {
    use super::{WriteOp, looks_like_a_write};
    use crate::requests::request::QueryLimits;

    #[test]
    fn what_manages_this_file_or_only_reads_does_not_travel() {
        let execute = |sql: &str| WriteOp::Execute {
            sql: sql.into(),
            params: ().into(),
        };
        for sql in [
            "INSERT INTO t VALUES (1)",
            "WITH x(a) AS (SELECT 1) INSERT INTO t SELECT * FROM x",
            "DROP TABLE t",
        ] {
            assert!(execute(sql).can_travel(), "{sql}");
        }
        for sql in [
            "SELECT 1",
            "PRAGMA user_version = 3",
            "VACUUM INTO 'copy'",
            "ATTACH 'x' AS y",
            "BEGIN",
        ] {
            assert!(!execute(sql).can_travel(), "{sql}");
        }
        assert!(WriteOp::Script("CREATE TABLE t(a); INSERT INTO t VALUES (1)".into()).can_travel());
        assert!(!WriteOp::Script("CREATE TABLE t(a); VACUUM".into()).can_travel());
    }

    #[test]
    fn a_write_with_limits_does_not_travel() {
        let insert = |limits| WriteOp::Query {
            sql: "INSERT INTO t VALUES (1)".into(),
            params: ().into(),
            limits,
        };
        assert!(insert(None).can_travel());
        assert!(!insert(Some(Box::new(QueryLimits::default()))).can_travel());
    }

    #[test]
    fn reads_go_to_a_reader() {
        for sql in [
            "SELECT 1",
            " ; /* first */ -- then\n select 1",
            "VALUES (1), (2)",
            "EXPLAIN INSERT INTO t VALUES (1)",
            "WITH x(a) AS (SELECT 1), y AS MATERIALIZED (VALUES (2)) SELECT * FROM x, y",
            "WITH RECURSIVE x AS (SELECT replace('a', 'b', 'c')) SELECT * FROM x",
            "PRAGMA user_version",
            "PRAGMA main.table_info(t)",
            "PRAGMA table_info = t; ",
            "",
            "-- nothing",
            "nonsense",
        ] {
            assert!(!looks_like_a_write(sql), "{sql}");
        }
    }

    #[test]
    fn writes_go_to_the_writer() {
        for sql in [
            "insert into t values (1)",
            "/* a */ ; REPLACE INTO t VALUES (1)",
            "UPDATE t SET a = 1 RETURNING a",
            "DELETE FROM t",
            "CREATE TABLE t(a)",
            "VACUUM",
            "ATTACH 'x' AS y",
            "BEGIN",
            "WITH x(a) AS (SELECT 1) INSERT INTO t SELECT * FROM x",
            "WITH x AS (SELECT (SELECT 1)) DELETE FROM t WHERE a IN x",
            "PRAGMA user_version = 3",
            "PRAGMA main.user_version(3)",
            "PRAGMA wal_checkpoint",
            "PRAGMA optimize",
        ] {
            assert!(looks_like_a_write(sql), "{sql}");
        }
    }
}
