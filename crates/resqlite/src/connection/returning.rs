//! Runs a statement that writes and keeps the rows that it returns.

use std::sync::Arc;

use super::{engine_connection::EngineConnection, prepared::Prepared};
use crate::{
    core::{error::Result, limits},
    rows::{Integers, Packed},
};

impl EngineConnection {
    /// Steps a statement with bound parameters to its end, and keeps its rows in packed form.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn drain(
        &mut self,
        prepared: &mut Prepared,
        integers: Integers,
        rows: &mut Vec<Packed>,
    ) -> Result<()> {
        if prepared.statement.column_count() == 0 {
            return Ok(prepared.statement.run()?);
        }
        let mut row = prepared.first_step()?;
        self.packer.begin(prepared.layout.names().len(), integers);
        while row {
            self.packer.push(&prepared.statement)?;
            row = prepared.statement.step()?;
            if !row || self.packer.is_full(limits::ROW_BATCH_ROWS_MAX) {
                let batch = self.packer.batch(&mut prepared.kinds);
                self.guard.interrupt.spend_bytes(batch.byte_len())?;
                rows.push((Arc::clone(&prepared.layout), batch.to_bytes()));
                self.packer.clear();
            }
        }
        Ok(())
    }
}
