//! Running statements of any kind inside an open transaction: one, or a batch of them.

use std::sync::Arc;

use super::{Writer, reply::Done, unit::SETS_PER_CHECK};
use crate::{
    connection::prepared::Prepared,
    core::{
        error::{Error, Result},
        params::{Params, Reader, malformed},
    },
    requests::{
        request::Write,
        statements::{StatementResult, Statements},
    },
    rows::Integers,
};

/// The statement of a batch that ran last. The next one often has the same text.
struct Last {
    position: usize,
    prepared: Prepared,
}

impl Writer {
    /// Runs one statement.
    pub(super) fn any_statement(
        &mut self,
        sql: &Arc<str>,
        params: &Params,
        integers: Integers,
    ) -> Result<Done> {
        let mut prepared = self.writing.connection.take(sql)?;
        let ran = self.run_once(&mut prepared, sql, &mut params.reader(), integers);
        prepared.end_run(params.byte_len());
        self.writing.connection.put(sql, prepared);
        Ok(Done::Results(vec![ran?]))
    }

    /// Runs all statements of a batch. An error says which of them failed.
    pub(super) fn statements(&mut self, batch: &Statements, write: &Write) -> Result<Done> {
        let (mut params, mut last) = (batch.packed.reader(), None);
        // Another machine may have sent the number of statements, so no space is reserved for it.
        let mut results = Vec::new();
        for index in 0..batch.count {
            if index % SETS_PER_CHECK == SETS_PER_CHECK - 1 && write.token.is_cancelled() {
                return Err(Error::Aborted);
            }
            let ran = self.next_statement(batch, &mut params, &mut last, write.integers);
            results.push(ran.map_err(|error| {
                self.error_of_member(error, index, &format!("statement at index {index}: "))
            })?);
        }
        self.put_back(batch, last);
        Ok(Done::Results(results))
    }

    fn next_statement(
        &mut self,
        batch: &Statements,
        params: &mut Reader<'_>,
        last: &mut Option<Last>,
        integers: Integers,
    ) -> Result<StatementResult> {
        let position = params.number()?;
        if last.as_ref().is_none_or(|last| last.position != position) {
            self.put_back(batch, last.take());
            let sql = batch.texts.get(position).ok_or_else(malformed)?;
            let prepared = self.writing.connection.take(sql)?;
            *last = Some(Last { position, prepared });
        }
        let prepared = &mut last.as_mut().expect("taken above").prepared;
        let ran = self.run_once(prepared, &batch.texts[position], params, integers);
        if prepared.effects.schema {
            // The meaning of other statements may have changed.
            *last = None;
            self.writing.connection.clear();
        }
        ran
    }

    fn put_back(&mut self, batch: &Statements, last: Option<Last>) {
        if let Some(Last {
            position,
            mut prepared,
        }) = last
        {
            prepared.end_run(batch.packed.byte_len());
            self.writing.connection.put(&batch.texts[position], prepared);
        }
    }

    /// Runs a prepared statement with the next parameters.
    fn run_once(
        &mut self,
        prepared: &mut Prepared,
        sql: &str,
        params: &mut Reader<'_>,
        integers: Integers,
    ) -> Result<StatementResult> {
        self.about_to_write(&prepared.effects)?;
        let mut rows = Vec::new();
        let ran = self.drain(prepared, params, integers, &mut rows);
        self.has_run(&prepared.effects, sql, ran)?;
        Ok(StatementResult {
            columns: prepared.columns(),
            rows,
            changes: self.changes(&prepared.effects),
            last_insert_rowid: if prepared.only_reads() {
                0
            } else {
                self.last_rowid()
            },
        })
    }
}
