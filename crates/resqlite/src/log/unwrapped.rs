//! SQL that cannot share a transaction, where entries are drawn up.

use sqlite3_parser::dialect::TokenType::{TK_ATTACH, TK_DETACH, TK_INTO, TK_PRAGMA, TK_SEMI, TK_VACUUM};

use super::{client::Work, entry::refused_beside_gate, maker::Uncarried};
use crate::{
    core::{error::Result, tokens::tokens},
    guard::pragmas,
    requests::{feed::Gap, request::WriteOp},
    writer::Wrapping,
};

/// SQL that cannot share a transaction, by the way in which entries treat it.
enum Kind {
    /// Runs as always: it changes nothing that an entry carries.
    AsIs,
    /// Runs in a transaction of its own.
    Wrapped,
    /// No entry can carry what it may commit.
    NotCarried(&'static str),
    /// The SQL changes which databases are attached, and nothing in this one.
    Attaches,
}

impl Kind {
    /// Finds the kind of this SQL.
    fn of(op: &WriteOp) -> Self {
        let sql = match op {
            WriteOp::Script(_) => {
                return Self::NotCarried("a script with PRAGMA, VACUUM, ATTACH or transactions of its own");
            }
            op => op.sql().map_or("", |sql| sql),
        };
        Self::of_statement(sql)
    }

    fn of_statement(sql: &str) -> Self {
        let mut words = tokens(sql).filter(|(token, _)| *token != TK_SEMI);
        match words.next().map(|(token, _)| token) {
            Some(TK_PRAGMA) => {
                // PRAGMA name, or PRAGMA schema.name
                let mut names = words.filter_map(|(_, text)| std::str::from_utf8(text).ok());
                let first = names.next().unwrap_or_default();
                let name = match names.next() {
                    Some(".") => names.next().unwrap_or_default(),
                    _ => first,
                };
                if pragmas::may_write(name.trim_matches(['"', '`', '[', ']', '\''])) {
                    Self::Wrapped
                } else {
                    Self::AsIs
                }
            }
            Some(TK_VACUUM) if words.any(|(token, _)| token == TK_INTO) => Self::AsIs,
            Some(TK_VACUUM) => Self::NotCarried("VACUUM"),
            Some(TK_ATTACH | TK_DETACH) => Self::Attaches,
            _ => Self::NotCarried("SQL that manages transactions"),
        }
    }
}

impl Work<'_> {
    /// Decides how such SQL runs, and prepares for it.
    pub(super) fn before_unwrapped(&mut self, op: &WriteOp) -> Result<Wrapping> {
        // A file that cannot be read now has no feeds that could miss anything.
        let _ = self.notice_feeds();
        let Some(uncarried) = self.log.uncarried() else {
            return Ok(Wrapping::No);
        };
        let is_gated = uncarried == Uncarried::Refused;
        match Kind::of(op) {
            Kind::Wrapped => return Ok(Wrapping::Yes),
            Kind::NotCarried(what) if is_gated => return Err(refused_beside_gate(what)),
            Kind::Attaches if is_gated => return Err(refused_beside_gate("ATTACH or DETACH")),
            Kind::NotCarried(_) => self.begin_unlisted()?,
            Kind::AsIs | Kind::Attaches => {}
        }
        Ok(Wrapping::No)
    }

    /// Prepares for SQL whose commits are not logged. A gap is logged instead.
    fn begin_unlisted(&mut self) -> Result<()> {
        // The process may end before the gap is logged.
        self.set_script_runs(true, 0)?;
        self.set_maker(None);
        self.log.unlisted_since = Some(self.writing.commits.in_main_log());
        Ok(())
    }

    pub(super) fn end_unlisted(&mut self) {
        let Some(before) = self.log.unlisted_since.take() else {
            return;
        };
        self.update_maker();
        let commits = self.writing.commits.in_main_log().wrapping_sub(before);
        if commits > 0
            && let Some(feeds) = &mut self.log.feeds
        {
            feeds.gap = Some(Gap::Script);
        }
        // If this fails, the gap is logged with the next entry.
        let _ = self.set_script_runs(false, commits);
    }
}
