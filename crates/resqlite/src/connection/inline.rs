//! Runs a quick query for a thread that must not block: within bounds, or not at all.
//!
//! Nothing here waits for a disk, a lock or a schema, and no instruction of the program takes long. A statement is kept for this purpose
//! only if its program has no instruction that might take long.

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
    /// The text of one statement.
    pub sql: &'a Arc<str>,
    /// Its parameters.
    pub params: &'a Params,
    /// The form in which INTEGER values reach the caller.
    pub integers: Integers,
    /// States that only the first row is wanted.
    pub first: bool,
    /// States that the columns are wanted, too.
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
    /// The number of a commit: the rows show the state after this commit and all before it.
    pub commit: CommitId,
}

/// The reason why a query did not run at once. The query has done nothing, and may run elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenUp {
    /// The connection is in use, or does not exist yet.
    NoConnection,
    /// The statement is not prepared for this yet.
    NotPrepared,
    /// The statement is no query, or its time has no bound.
    Unfit,
    /// A schema has changed.
    Schema,
    /// Somebody has committed, and it would take long to forget the pages of the previous state.
    Behind,
    /// The query took longer than it may.
    Time,
    /// The query would have waited for a disk.
    Disk,
    /// The query would have waited for a lock.
    Lock,
    /// The result of the query, or an intermediate value, is too large.
    Large,
    /// The query failed. It fails again elsewhere, and that error is reported.
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

    /// Returns whether the reason lies in the statement, and not in the moment.
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

/// Functions of SQLite whose time grows with the length of their values only, and no faster. The trim functions are listed with one
/// argument only: with two, they take as long as the product of both lengths.
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

/// Returns whether a program that only reads takes a bounded time between two checks of the clock. SQLite checks the clock only at
/// backward jumps. The time is bounded if the program has few instructions, and each of them takes a bounded time.
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
                // One instruction sorts all rows, and collations other than BINARY are slow.
                "SorterOpen" => instruction.sorts_bytes(),
                // This instruction reads all pages of a table.
                "Count" => false,
                "IntegrityCk" | "Program" | "Checkpoint" | "JournalMode" => false,
                // Virtual tables.
                opcode => !opcode.starts_with('V') || opcode == "Variable",
            })
}

impl EngineConnection {
    /// Keeps a statement for [`select_inline`](Self::select_inline) if its program is fit for that, and returns whether it is. The
    /// statement is prepared here, where waiting is allowed.
    pub(crate) fn prepare_inline(&mut self, sql: &Arc<str>) -> bool {
        let Ok(prepared) = self.take(sql) else {
            return false;
        };
        let is_query = prepared.statement.is_read_only()
            && prepared.only_reads()
            // Such a statement reports the settings of its connection, and this connection has its
            // own.
            && !prepared.effects.only_reports
            && prepared.layout.names().len() <= limits::INLINE_COLUMNS;
        let is_fit = is_query && program(&self.sqlite, sql).is_some_and(|program| is_bounded(&program));
        if is_fit {
            self.put(sql, prepared);
        }
        is_fit
    }

    /// Runs a query at once in the held read, which includes `commit`. Hands the result to `take`, which returns `false` to refuse it.
    ///
    /// # Errors
    /// The reason why the query was given up.
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

/// Packs the rows of a query. Returns `false` if there are too many rows.
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
