//! Packs the rows of a run, from its first step to its last.

use crate::{
    core::{
        error::{Error, Result},
        limits,
    },
    guard::Guard,
    requests::request::{Outcome, ReplyGuard},
    rows::{Integers, Packer},
};

use super::prepared::Prepared;

/// A run of a statement. Its rows may be packed in parts.
pub(super) struct Run<'a> {
    pub(super) prepared: &'a mut Prepared,
    pub(super) packer: &'a mut Packer,
    pub(super) guard: &'a Guard,
}

/// The number of rows that a run packs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Most {
    All,
    /// One row; the statement is not stepped again.
    First,
    /// At most this many rows; the run can continue later.
    Batch(usize),
}

impl Run<'_> {
    /// Packs rows from the start. Full row batches go to the reply; the remaining rows stay in the packer. Returns whether the run is at
    /// its end.
    pub(super) fn rows(&mut self, integers: Integers, most: Most, reply: &mut ReplyGuard) -> Result<bool> {
        let row = self.prepared.first_step()?;
        self.packer.begin(self.prepared.layout.names().len(), integers);
        self.pack(row, most, reply)
    }

    /// Continues to pack rows where the last batch ended.
    pub(super) fn further_rows(
        &mut self,
        integers: Integers,
        most: Most,
        reply: &mut ReplyGuard,
    ) -> Result<bool> {
        self.packer.begin(self.prepared.layout.names().len(), integers);
        self.pack(true, most, reply)
    }

    /// Packs rows. `row` states that the statement is on a row that is not packed yet. After the last row of a batch, the statement is
    /// stepped once more, to learn whether it is at the end.
    fn pack(&mut self, mut row: bool, most: Most, reply: &mut ReplyGuard) -> Result<bool> {
        let rows_max = if let Most::Batch(rows) = most {
            rows
        } else {
            usize::MAX
        };
        let mut packed = 0;
        while row && packed < rows_max {
            if self.packer.is_full(limits::ROW_BATCH_ROWS_MAX) {
                self.hand_over(reply)?;
            }
            self.packer.push(&self.prepared.statement)?;
            packed += 1;
            row = most != Most::First && self.prepared.statement.step()?;
        }
        Ok(!row)
    }

    fn hand_over(&mut self, reply: &mut ReplyGuard) -> Result<()> {
        let batch = self.packer.batch(&mut self.prepared.kinds);
        self.guard.interrupt.spend_bytes(batch.byte_len())?;
        if !reply.rows(&self.prepared.layout, &batch) {
            return Err(Error::Aborted);
        }
        self.packer.clear();
        Ok(())
    }

    /// Hands over the rows that are left in the packer.
    pub(super) fn hand_over_rest(&mut self, reply: &mut ReplyGuard) -> Result<()> {
        if self.packer.is_empty() {
            return Ok(());
        }
        self.hand_over(reply)
    }

    /// Replies with the rows that are left in the packer. Returns `false` if there are more bytes than the query may return.
    pub(super) fn finish(self, end: bool, reply: ReplyGuard) -> bool {
        let layout = &self.prepared.layout;
        let last = self.packer.batch(&mut self.prepared.kinds);
        let within = self.guard.interrupt.spend_bytes(last.byte_len());
        let is_within = within.is_ok();
        reply.finish(within.map(|()| Outcome::Rows { layout, last, end }));
        self.packer.recycle();
        is_within
    }
}
