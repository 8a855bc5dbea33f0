//! Runs the query of a live query: only rows that its last result did not have are packed.

use std::{ops::Range, sync::Arc};

use resqlite_live::{Differ, Difference};
use resqlite_sqlite::{Statement, ValueRef};

use super::{engine_connection::EngineConnection, engine_connection::get, run::Run};
use crate::{
    core::{
        error::{Error, Result},
        limits,
    },
    requests::request::Query,
    rows::{ColumnLayout, Integers, RowBatch, fingerprint},
};

/// A result that the next one is compared with.
pub(crate) struct Before<'a> {
    pub(crate) layout: Option<&'a Arc<ColumnLayout>>,
    pub(crate) fingerprints: &'a [u64],
    /// The seed of the fingerprints.
    pub(crate) seed: u64,
}

/// A statement that returns the result of a query, perhaps among others.
pub(super) struct Reads<'a> {
    pub(super) sql: &'a Arc<str>,
    /// How many columns of it are those of the result: all, if that is `None`. Others may follow.
    pub(super) columns: Option<usize>,
    /// The positions of the rows of the result.
    pub(super) rows: Range<usize>,
    /// If it has one parameter more than the query: their number, and the value.
    pub(super) last_parameter: Option<(usize, i64)>,
}

/// Takes new rows; returns `false` if no more are wanted.
pub(crate) type TakeRows<'a> = dyn FnMut(&Arc<ColumnLayout>, &RowBatch<'_>) -> bool + 'a;

impl EngineConnection {
    /// Runs a query and compares the fingerprint of each row with those of the result before. Rows that it did not have
    /// go to `take_rows`. Only an error could void them, so from then on no deadline applies. Returns the column layout
    /// and the difference, if there is one.
    ///
    /// # Errors
    /// What SQLite says; [`Error::Aborted`] when `take_rows` wants no more.
    pub(crate) fn compare(
        &mut self,
        query: &Query,
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, Option<Difference>)> {
        let reads = Reads {
            sql: &query.sql,
            columns: None,
            rows: 0..usize::MAX,
            last_parameter: None,
        };
        self.compare_rows(&reads, query, before, take_rows, &mut |_, _| {})
    }

    /// Runs a statement with the parameters of the query, and compares the result that it returns. `see` gets each row with
    /// its fingerprint.
    pub(super) fn compare_rows(
        &mut self,
        reads: &Reads<'_>,
        query: &Query,
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
        see: &mut dyn FnMut(&Statement, u64),
    ) -> Result<(Arc<ColumnLayout>, Option<Difference>)> {
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, reads.sql)?;
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let bound = match reads.last_parameter {
            None => run.prepared.bind_query(query),
            Some((number, value)) => {
                let statement = &mut run.prepared.statement;
                let bound = query.params.reader().bind_first(statement, number - 1);
                bound.and_then(|()| Ok(statement.bind(number, ValueRef::Integer(value))?))
            }
        };
        let result = bound.and_then(|()| run.compare(reads, query.integers, before, take_rows, see));
        run.prepared.end_run(query.params.byte_len());
        run.packer.recycle();
        result
    }
}

impl Run<'_> {
    /// `see` gets each row with its fingerprint.
    fn compare(
        &mut self,
        reads: &Reads<'_>,
        integers: Integers,
        before: &Before<'_>,
        take_rows: &mut TakeRows<'_>,
        see: &mut dyn FnMut(&Statement, u64),
    ) -> Result<(Arc<ColumnLayout>, Option<Difference>)> {
        let mut row = self.prepared.first_step()?;
        let layout = match reads.columns {
            Some(columns) => ColumnLayout::of_first(&self.prepared.statement, columns),
            None => Arc::clone(&self.prepared.layout),
        };
        let columns = layout.names().len();
        // Rows of other columns have nothing in common.
        let same_columns = before.layout.is_some_and(|before| before.id() == layout.id());
        let comparable = if same_columns { before.fingerprints } else { &[] };
        let mut differ = Differ::new(comparable);
        self.packer.begin(columns, integers);
        let mut position = 0;
        while row {
            let print = fingerprint(&self.prepared.statement, columns, before.seed);
            see(&self.prepared.statement, print);
            if reads.rows.contains(&position) && differ.push(print) {
                if self.packer.is_full(limits::ROW_BATCH_ROWS_MAX) {
                    self.hand_over_new(&layout, take_rows)?;
                }
                self.packer.push(&self.prepared.statement)?;
            }
            row = self.prepared.statement.step()?;
            position += 1;
        }
        self.hand_over_new(&layout, take_rows)?;
        let lost = comparable.len() < before.fingerprints.len();
        let difference = differ.finish().or_else(|| lost.then(Difference::default));
        Ok((layout, difference))
    }

    /// Hands over the rows in the packer.
    pub(super) fn hand_over_new(
        &mut self,
        layout: &Arc<ColumnLayout>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<()> {
        let batch = self.packer.batch(&mut self.prepared.kinds);
        if batch.rows() > 0 {
            self.guard.interrupt.set_deadline(None);
            if !take_rows(layout, &batch) {
                return Err(Error::Aborted);
            }
        }
        self.packer.clear();
        Ok(())
    }
}
