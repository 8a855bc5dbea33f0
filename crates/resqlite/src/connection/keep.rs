//! Runs the query of a live query whose result is maintained. It reads the whole result, or only the rows that come from some base rows.

use std::{ops::Range, sync::Arc};

use resqlite_live::{Difference, KeptRow, KeptRows, Order, SourceKey, Value, Window};
use resqlite_sqlite::{Statement, ValueRef, codes};

use super::{
    compare::{Before, TakeRows},
    engine_connection::{EngineConnection, get},
    given::{GivenImage, GivenImages},
    run::Run,
};
use crate::{
    core::{
        error::Result,
        limits,
        live_value::{borrowed, owned},
        params::Params,
    },
    maintain::{Limit, Partners, RowsPlan, Source},
    requests::request::Query,
    rows::{ColumnLayout, fingerprint},
};

/// The rows that are kept of a result while it is read.
pub(crate) enum Keep {
    Nothing,
    /// The rows, while they take no more than [`limits::KEPT_BYTES`].
    Rows(Box<KeptRows>),
    /// The rows take more bytes, or arrive in another order: the file is damaged, or this order is not SQLite's.
    Unfit,
}

impl Keep {
    /// Makes a `Keep` for a result in this order, of which no row has been read yet.
    pub(crate) fn rows(order: &Order) -> Self {
        Self::Rows(Box::new(KeptRows::new(order.clone())))
    }

    pub(super) fn add(&mut self, row: impl FnOnce() -> KeptRow) {
        let Self::Rows(rows) = self else {
            return;
        };
        if rows.append(row()).is_err() || rows.weight() > limits::KEPT_BYTES {
            *self = Self::Unfit;
        }
    }
}

/// The query of a live query, with the way in which its result is maintained.
#[derive(Clone, Copy)]
pub(crate) struct Maintained<'a> {
    pub(crate) query: &'a Query,
    pub(crate) plan: &'a RowsPlan,
    /// The seed of the fingerprints.
    pub(crate) seed: u64,
}

impl EngineConnection {
    /// Runs the whole query, as [`compare`](Self::compare) does, and keeps its rows.
    ///
    /// # Errors
    /// The errors of [`compare`](Self::compare).
    pub(crate) fn compare_and_keep(
        &mut self,
        Maintained { query, plan, seed }: Maintained<'_>,
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
        keep: &mut Keep,
    ) -> Result<(Arc<ColumnLayout>, Option<Difference>)> {
        debug_assert_eq!(seed, before.seed);
        self.compare_rows(
            &plan.all,
            query,
            Some(plan.columns),
            before,
            take_rows,
            &mut |statement, print| keep.add(|| kept_row(statement, plan, print)),
        )
    }

    /// Keeps the first `most` rows of a result with a LIMIT.
    ///
    /// # Errors
    /// SQLite's errors, also for rows that the query itself does not read.
    pub(crate) fn keep_first(
        &mut self,
        Maintained { query, plan, seed }: Maintained<'_>,
        limit: &Limit,
        most: usize,
        keep: &mut Keep,
    ) -> Result<()> {
        let prepared = self.get(&limit.first)?;
        let statement = &mut prepared.statement;
        let mut add_all = || {
            query.params.reader().bind_first(statement, plan.parameters)?;
            // A negative LIMIT means no limit.
            let most = i64::try_from(most).unwrap_or(-1);
            statement.bind(plan.parameters + 1, ValueRef::Integer(most))?;
            while matches!(keep, Keep::Rows(..)) && statement.step()? {
                let print = fingerprint(statement, plan.columns, seed);
                keep.add(|| kept_row(statement, plan, print));
            }
            Ok(())
        };
        let added = add_all();
        prepared.end_run(query.params.byte_len());
        added
    }

    /// Returns the window that LIMIT and OFFSET leave of a query that has run. `all` is the whole statement; `bounds` is the statement
    /// that gives the two values. Returns `None` if these values are no integers.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn window(
        &mut self,
        query: &Query,
        all: &Arc<str>,
        bounds: &Arc<str>,
    ) -> Result<Option<Window>> {
        // Only the whole statement has the names of all parameters.
        let prepared = self.get(all)?;
        let values = query.params.reader().values(&prepared.statement)?;
        let prepared = self.get(bounds)?;
        let statement = &mut prepared.statement;
        for (number, value) in (1..=statement.parameter_count()).zip(values) {
            statement.bind(number, value)?;
        }
        let row = statement.step();
        let window = match (statement.column(0), statement.column(1)) {
            (ValueRef::Integer(limit), ValueRef::Integer(offset)) => Some(Window::new(limit, offset)),
            _ => None,
        };
        prepared.end_run(query.params.byte_len());
        row?;
        Ok(window)
    }

    /// Adds the rows of the result that come from one base row, until there are more than `most`.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn rows_from(
        &mut self,
        Maintained { query, plan, seed }: Maintained<'_>,
        source: &Source,
        key: &SourceKey,
        most: usize,
        rows: &mut Vec<KeptRow>,
    ) -> Result<()> {
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, &source.some)?;
        let statement = &mut prepared.statement;
        let mut collect = || {
            bind(statement, &query.params, plan, [(source, key)])?;
            while rows.len() <= most && statement.step()? {
                let print = fingerprint(statement, plan.columns, seed);
                rows.push(kept_row(statement, plan, print));
            }
            Ok(())
        };
        let collected = collect();
        prepared.end_run(query.params.byte_len());
        collected
    }

    /// Returns the keys of those rows of the first source that are joined with a row of another source, until there are more than `most`.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn joined_with(
        &mut self,
        Maintained { query, plan, .. }: Maintained<'_>,
        (first, source): (&Source, &Source),
        partners: &Partners,
        key: &SourceKey,
        most: usize,
    ) -> Result<Vec<SourceKey>> {
        self.run_with(query, &partners.now, |run| {
            let statement = &mut run.prepared.statement;
            for (at, parameter) in (plan.parameters + 1..).enumerate().take(source.key.len()) {
                statement.bind(parameter, key_column(key, at))?;
            }
            first_keys(statement, first, most)
        })
    }

    /// Does the same as [`joined_with`](Self::joined_with) for images of rows.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn joined_with_images(
        &mut self,
        query: &Query,
        first: &Source,
        partners: &Partners,
        images: &[GivenImage<'_>],
        most: usize,
    ) -> Result<Vec<SourceKey>> {
        let (over, given) = (&partners.before, GivenImages(&partners.before, images));
        self.run_given(query, &over.given, &given, &over.sql, |run| {
            first_keys(&mut run.prepared.statement, first, most)
        })
    }

    /// Hands over rows of the result. If a row is missing before any row is handed over, returns `false`.
    ///
    /// # Errors
    /// SQLite's errors; [`Error::Aborted`](crate::Error::Aborted) if `take_rows` wants no more
    /// rows.
    pub(crate) fn hand_over_kept<'r>(
        &mut self,
        Maintained { query, plan, seed }: Maintained<'_>,
        layout: &Arc<ColumnLayout>,
        rows: impl Iterator<Item = &'r KeptRow>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<bool> {
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, &plan.one)?;
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        run.packer.begin(plan.columns, query.integers);
        let pack_all = || {
            let mut handed_over = false;
            for row in rows {
                if run.packer.is_full(limits::ROW_BATCH_ROWS_MAX) {
                    run.hand_over_full(layout, take_rows)?;
                    handed_over = true;
                }
                let statement = &mut run.prepared.statement;
                bind(
                    statement,
                    &query.params,
                    plan,
                    plan.sources.iter().zip(&row.sources),
                )?;
                let is_there =
                    statement.step()? && fingerprint(statement, plan.columns, seed) == row.fingerprint;
                if !is_there {
                    return missing(handed_over);
                }
                run.packer.push(statement)?;
                statement.reset();
            }
            run.hand_over_new(layout, take_rows)?;
            Ok(true)
        };
        let done = pack_all();
        run.prepared.end_run(query.params.byte_len());
        run.packer.recycle();
        done
    }
}

/// Returns the outcome of a run in which a row to be handed over is missing. All statements of the run read one state, so this is an
/// error in the engine, or the file is damaged. The whole statement can run instead only if no row is handed over yet.
pub(super) fn missing(handed_over: bool) -> Result<bool> {
    if handed_over {
        let message = "a row of the result is not found by its key";
        return Err(resqlite_sqlite::Error::new(codes::CORRUPT, message).into());
    }
    Ok(false)
}

/// Returns the keys that a statement gives, until there are more than `most`.
fn first_keys(statement: &mut Statement, first: &Source, most: usize) -> Result<Vec<SourceKey>> {
    let mut keys = Vec::new();
    while keys.len() <= most && statement.step()? {
        keys.push(read_key(statement, first, 0..first.key.len()));
    }
    Ok(keys)
}

/// Returns the key of a row of a source. The key is in these columns.
fn read_key(statement: &Statement, source: &Source, columns: Range<usize>) -> SourceKey {
    let values: Box<[Value]> = columns.map(|column| owned(statement.column(column))).collect();
    match &values[..] {
        [Value::Null, ..] if source.is_optional() => SourceKey::Absent,
        [Value::Integer(rowid)] if source.has_rowid() => SourceKey::Rowid(*rowid),
        _ => SourceKey::Columns(values),
    }
}

/// Binds the parameters of the query, followed by keys.
fn bind<'k>(
    statement: &mut Statement,
    params: &Params,
    plan: &RowsPlan,
    keys: impl IntoIterator<Item = (&'k Source, &'k SourceKey)>,
) -> Result<()> {
    params.reader().bind_first(statement, plan.parameters)?;
    let mut parameter = plan.parameters;
    for (source, key) in keys {
        for at in 0..source.key.len() {
            parameter += 1;
            statement.bind(parameter, key_column(key, at))?;
        }
    }
    Ok(())
}

/// Returns one column of a key.
fn key_column(key: &SourceKey, at: usize) -> ValueRef<'_> {
    match key {
        SourceKey::Absent => ValueRef::Null,
        SourceKey::Rowid(rowid) => ValueRef::Integer(*rowid),
        SourceKey::Columns(values) => borrowed(&values[at]),
    }
}

/// Makes the [`KeptRow`] of the current row of a statement of the plan.
fn kept_row(statement: &Statement, plan: &RowsPlan, fingerprint: u64) -> KeptRow {
    let value = |column: usize| owned(statement.column(column));
    let number = plan.number_column.map(|column| statement.column(column));
    let is_of_other_arm =
        |source: &Source| number.is_some_and(|number| number != ValueRef::Integer(source.arm as i64));
    let key = |source: &Source| {
        if is_of_other_arm(source) {
            return SourceKey::Absent;
        }
        read_key(statement, source, source.columns.clone())
    };
    KeptRow {
        sort: plan.sort.iter().copied().map(value).collect(),
        sources: plan.sources.iter().map(key).collect(),
        fingerprint,
    }
}
