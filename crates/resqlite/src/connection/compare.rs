//! Runs the query of a live query. Only rows that its last result did not have are packed.

use std::sync::Arc;

use resqlite_live::{Differ, Difference};
use resqlite_sqlite::Statement;

use super::{engine_connection::EngineConnection, engine_connection::get, run::Run};
use crate::{
    core::{
        error::{Error, Result},
        limits,
    },
    requests::request::Query,
    rows::{ColumnLayout, Integers, RowBatch, fingerprint},
};

/// A result with which the next result is compared.
pub(crate) struct Before<'a> {
    pub(crate) layout: Option<&'a Arc<ColumnLayout>>,
    pub(crate) fingerprints: &'a [u64],
    /// The seed of the fingerprints.
    pub(crate) seed: u64,
}

/// Takes new rows; returns `false` if no more rows are wanted.
pub(crate) type TakeRows<'a> = dyn FnMut(&Arc<ColumnLayout>, &RowBatch<'_>) -> bool + 'a;

impl EngineConnection {
    /// Runs a query and compares the fingerprint of each row with those of the previous result. Rows that the previous result did not
    /// have go to `take_rows`, and cannot be taken back. So while others wait, a run hands rows over only at its end. If there are more
    /// new rows than the packer holds, such a run ends with [`Error::TimedOut`], and the query is run again by itself. Returns the column
    /// layout and the difference, if there is one.
    ///
    /// # Errors
    /// SQLite's errors; [`Error::Aborted`] if `take_rows` wants no more rows.
    pub(crate) fn compare(
        &mut self,
        query: &Query,
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, Option<Difference>)> {
        self.compare_rows(&query.sql, query, None, before, take_rows, &mut |_, _| {})
    }

    /// Runs `sql` with the parameters of the query, and compares the first `columns` columns of each row; all columns if that is `None`.
    /// `see` gets each row with its fingerprint.
    pub(super) fn compare_rows(
        &mut self,
        sql: &Arc<str>,
        query: &Query,
        columns: Option<usize>,
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
        see: &mut dyn FnMut(&Statement, u64),
    ) -> Result<(Arc<ColumnLayout>, Option<Difference>)> {
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, sql)?;
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let bound = run.prepared.bind_query(query);
        let result = bound.and_then(|()| {
            let row = run.prepared.first_step()?;
            let layout = match columns {
                Some(columns) => ColumnLayout::of_first(&run.prepared.statement, columns),
                None => Arc::clone(&run.prepared.layout),
            };
            run.compare(row, layout, query.integers, before, take_rows, see)
        });
        run.prepared.end_run(query.params.byte_len());
        run.packer.recycle();
        result
    }
}

impl Run<'_> {
    /// Compares the rows of the statement. `row` states that its first step returned a row. `layout` has the columns that are packed and
    /// compared; others may follow. `see` gets each row with its fingerprint.
    pub(super) fn compare(
        &mut self,
        mut row: bool,
        layout: Arc<ColumnLayout>,
        integers: Integers,
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
        see: &mut dyn FnMut(&Statement, u64),
    ) -> Result<(Arc<ColumnLayout>, Option<Difference>)> {
        let columns = layout.names().len();
        // Results with different columns have no rows in common.
        let same_columns = before.layout.is_some_and(|before| before.id() == layout.id());
        let comparable = if same_columns { before.fingerprints } else { &[] };
        let mut differ = Differ::new(comparable);
        self.packer.begin(columns, integers);
        while row {
            let print = fingerprint(&self.prepared.statement, columns, before.seed);
            see(&self.prepared.statement, print);
            if differ.push(print) {
                if self.packer.is_full(limits::ROW_BATCH_ROWS_MAX) {
                    self.hand_over_full(&layout, take_rows)?;
                }
                self.packer.push(&self.prepared.statement)?;
            }
            row = self.prepared.statement.step()?;
        }
        self.hand_over_new(&layout, take_rows)?;
        let lost = comparable.len() < before.fingerprints.len();
        let difference = differ.finish().or_else(|| lost.then(Difference::default));
        Ok((layout, difference))
    }

    /// Hands over the rows in the packer, which is full.
    ///
    /// # Errors
    /// [`Error::TimedOut`] if others wait: see [`EngineConnection::compare`].
    pub(super) fn hand_over_full(
        &mut self,
        layout: &Arc<ColumnLayout>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<()> {
        if self.guard.interrupt.others_wait() {
            return Err(Error::TimedOut);
        }
        self.hand_over_new(layout, take_rows)
    }

    /// Hands over the rows in the packer.
    pub(super) fn hand_over_new(
        &mut self,
        layout: &Arc<ColumnLayout>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<()> {
        let batch = self.packer.batch(&mut self.prepared.kinds);
        if batch.rows() > 0 && !take_rows(layout, &batch) {
            return Err(Error::Aborted);
        }
        self.packer.clear();
        Ok(())
    }
}
