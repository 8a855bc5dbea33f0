//! Runs a quick query for a thread that must not stand still: within bounds, or not at all.
//!
//! Nothing here waits for a disk, a lock or a schema, and no instruction of the program takes long: a statement is kept for this only
//! if its program has none that might.

use std::sync::Arc;

use resqlite_sqlite::codes;

use super::{
    engine_connection::EngineConnection,
    prepared::Prepared,
    program::{Instruction, program},
};
use crate::{
    core::{
        commit_id::CommitId,
        error::{Error, Result},
        limits,
        params::Params,
    },
    rows::{ColumnLayout, Columns, Integers, Packer, RowBatch},
};

/// A query that may run at once.
pub struct InlineQuery<'a> {
    /// One statement.
    pub sql: &'a Arc<str>,
    /// Its parameters.
    pub params: &'a Params,
    /// The form in which INTEGER values reach the caller.
    pub integers: Integers,
    /// Only the first row is wanted.
    pub first: bool,
    /// The columns are wanted, too.
    pub columns: bool,
}

/// The result of a query that ran at once.
pub struct InlineRows<'a> {
    /// The layout of the rows.
    pub layout: &'a Arc<ColumnLayout>,
    /// The rows.
    pub batch: RowBatch<'a>,
    /// The columns, if they were wanted.
    pub columns: Option<Arc<Columns>>,
    /// They show what this commit, and all before it, have left.
    pub commit: CommitId,
}

/// The reason for which a query did not run at once. It has done nothing, and may run elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenUp {
    /// The connection is in use, or not there yet.
    NoConnection,
    /// The statement is not prepared for this yet.
    NotPrepared,
    /// It is no query, or its time has no bound.
    Unfit,
    /// A schema has changed.
    Schema,
    /// Somebody has committed, and to forget the pages of the state before would take long.
    Behind,
    /// It took longer than it may.
    Time,
    /// It would have waited for a disk.
    Disk,
    /// It would have waited for a lock.
    Lock,
    /// Its result, or a value on the way there, is too large.
    Large,
    /// It failed. Elsewhere it fails again, and that error is told.
    Error,
}

impl GivenUp {
    /// All reasons, in their order.
    pub const ALL: [Self; 10] = [
        Self::NoConnection,
        Self::NotPrepared,
        Self::Unfit,
        Self::Schema,
        Self::Behind,
        Self::Time,
        Self::Disk,
        Self::Lock,
        Self::Large,
        Self::Error,
    ];

    /// Returns whether the reason is the statement, rather than the moment.
    pub fn is_of_statement(self) -> bool {
        !matches!(
            self,
            Self::NoConnection | Self::NotPrepared | Self::Schema | Self::Behind | Self::Lock
        )
    }

    pub(crate) fn of(error: &Error) -> Self {
        match error.sqlite().map(resqlite_sqlite::Error::primary) {
            Some(codes::INTERRUPT) => Self::Time,
            Some(codes::IOERR) => Self::Disk,
            Some(codes::BUSY | codes::LOCKED | codes::PROTOCOL) => Self::Lock,
            Some(codes::TOOBIG) => Self::Large,
            _ => Self::Error,
        }
    }
}

/// Functions of SQLite whose time grows with the length of their values only, and no faster. With a second argument, those that trim
/// take as long as the product of both.
const FUNCTIONS: [&str; 38] = [
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "changes",
    "coalesce",
    "concat",
    "count",
    "date",
    "datetime",
    "floor",
    "hex",
    "if",
    "ifnull",
    "iif",
    "julianday",
    "last_insert_rowid",
    "length",
    "lower",
    "ltrim(1)",
    "max",
    "min",
    "nullif",
    "octet_length",
    "quote",
    "round",
    "row_number",
    "rtrim(1)",
    "sign",
    "substr",
    "substring",
    "sum",
    "time",
    "total",
    "trim(1)",
    "typeof",
    "unicode",
    "upper",
];

/// Returns whether a program that only reads takes a bounded time between two looks at the clock, which SQLite takes at jumps back
/// only: it has few instructions, and each takes a bounded time.
fn is_bounded(program: &[Instruction]) -> bool {
    let calls = program.iter().filter(|instruction| instruction.calls_function());
    let is_short = program.len() <= limits::INLINE_INSTRUCTIONS && calls.count() <= limits::INLINE_FUNCTIONS;
    is_short
        && program
            .iter()
            .all(|instruction| match instruction.opcode.as_str() {
                _ if instruction.calls_function() => {
                    let p4 = instruction.p4.as_str();
                    let name = p4.split_once('(').map_or(p4, |(name, _)| name);
                    FUNCTIONS.contains(&name) || FUNCTIONS.contains(&p4)
                }
                // One instruction sorts all rows, and other collations than BINARY take their time.
                "SorterOpen" => instruction.sorts_bytes(),
                // It reads all pages of a table.
                "Count" => false,
                "IntegrityCk" | "Program" | "Checkpoint" | "JournalMode" => false,
                // Virtual tables.
                opcode => !opcode.starts_with('V') || opcode == "Variable",
            })
}

impl EngineConnection {
    /// Keeps a statement for [`select_inline`](Self::select_inline), if its program is fit for that; returns whether it is. Prepares it
    /// here, where one may wait.
    pub(crate) fn prepare_inline(&mut self, sql: &Arc<str>) -> bool {
        let Ok(prepared) = self.take(sql) else {
            return false;
        };
        let is_query = prepared.statement.is_read_only()
            && prepared.only_reads()
            // This connection has settings of its own.
            && !prepared.effects.only_reports
            && prepared.layout.names().len() <= limits::INLINE_COLUMNS;
        let is_fit = is_query && program(&self.sqlite, sql).is_some_and(|program| is_bounded(&program));
        if is_fit {
            self.put(sql, prepared);
        }
        is_fit
    }

    /// Runs a query at once in the read that is held, which includes `commit`, and hands its result to `take`, which refuses it by `false`.
    ///
    /// # Errors
    /// The reason for which it was given up.
    pub(crate) fn select_inline(
        &mut self,
        query: &InlineQuery<'_>,
        commit: CommitId,
        take: impl FnOnce(InlineRows<'_>) -> bool,
    ) -> std::result::Result<(), GivenUp> {
        let prepared = self.cache.get_mut(query.sql).ok_or(GivenUp::NotPrepared)?;
        let packer = &mut self.packer;
        let done = match rows(prepared, packer, query) {
            Err(error) => Err(GivenUp::of(&error)),
            Ok(false) => Err(GivenUp::Large),
            Ok(true) => {
                let columns = query.columns.then(|| prepared.columns());
                let batch = packer.batch(&mut prepared.kinds);
                let is_large = batch.byte_len() > limits::INLINE_BYTES;
                let rows = InlineRows {
                    layout: &prepared.layout,
                    batch,
                    columns,
                    commit,
                };
                match is_large {
                    true => Err(GivenUp::Large),
                    false if take(rows) => Ok(()),
                    false => Err(GivenUp::NoConnection),
                }
            }
        };
        prepared.end_run(query.params.byte_len());
        packer.recycle();
        done
    }
}

/// Packs the rows of a query. Returns `false` if there are too many.
fn rows(prepared: &mut Prepared, packer: &mut Packer, query: &InlineQuery<'_>) -> Result<bool> {
    query.params.reader().bind_next(&mut prepared.statement)?;
    let mut row = prepared.first_step()?;
    packer.begin(prepared.layout.names().len(), query.integers);
    while row {
        if packer.is_full(limits::INLINE_ROWS) || packer.has_bytes(limits::INLINE_BYTES) {
            return Ok(false);
        }
        packer.push(&prepared.statement)?;
        row = !query.first && prepared.statement.step()?;
    }
    Ok(true)
}
