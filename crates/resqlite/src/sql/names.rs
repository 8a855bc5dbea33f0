//! Names as they are written in SQL text.

use std::borrow::Cow;

use sqlite3_parser::ast::{As, Name};

use crate::core::names::{ROWID_NAMES, after_prefix};

/// Returns a name without the quotes around it: `"a""b"`, `` `a` ``, `[a]`, `'a'` or `a`.
pub(crate) fn unquoted(name: &str) -> Cow<'_, str> {
    let Some(quote @ ('"' | '`' | '\'' | '[')) = name.chars().next() else {
        return name.into();
    };
    let Some(inner) = name.get(1..name.len() - 1) else {
        return name.into();
    };
    if quote == '[' || !inner.contains(quote) {
        return inner.into();
    }
    inner
        .replace(&format!("{quote}{quote}"), &quote.to_string())
        .into()
}

/// A name in a statement, without the quotes around it.
pub(crate) fn plain(name: &Name<'_>) -> String {
    unquoted(name.0).into_owned()
}

/// The name after AS.
pub(crate) fn alias_name(alias: &As<'_>) -> String {
    let (As::As(name) | As::Elided(name)) = alias;
    plain(name)
}

/// Returns whether SQLite reserves this table name for itself.
pub(crate) fn is_internal(table: &str) -> bool {
    after_prefix(table, "sqlite_").is_some()
}

/// Returns whether every table with rowids has a column of this name, declared or not.
pub(crate) fn is_rowid(column: &str) -> bool {
    ROWID_NAMES.iter().any(|name| name.eq_ignore_ascii_case(column))
}

#[cfg(test)]
mod tests {
    use super::{is_internal, unquoted};

    #[test]
    fn every_way_to_quote_a_name_is_undone() {
        for quoted in ["\"a b\"", "`a b`", "[a b]", "'a b'", "a b"] {
            assert_eq!(unquoted(quoted), "a b");
        }
        assert_eq!(unquoted("\"a\"\"b\""), "a\"b");
        assert_eq!(unquoted("`a``b`"), "a`b");
        assert_eq!(unquoted("\"\""), "");
        assert_eq!(unquoted(""), "");
    }

    #[test]
    fn tables_of_sqlite_itself_are_known_by_their_prefix() {
        assert!(is_internal("sqlite_schema") && is_internal("SQLite_Stat1"));
        assert!(!is_internal("sqlite") && !is_internal("mysqlite_") && !is_internal("öäüöäü"));
    }
}
