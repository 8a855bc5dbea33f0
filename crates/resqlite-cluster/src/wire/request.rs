//! A write that is sent to another node, and the answer to the write.

use std::sync::Arc;

use bytes::Bytes;
use resqlite::{
    Column, Columns, Rows,
    binding::{ColumnLayout, Integers, ParamSets, Statements, WriteOp},
    log::Position,
};

use super::{
    bytes::{In, Out},
    error::{read_error, write_error},
};
use crate::{
    core::{
        error::Error,
        written::{Packed, Written},
    },
    protocol::{RequestId, Run},
};

const VERSION: u8 = 1;

/// A write that a node is asked to run.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    /// The run that is asked.
    pub(crate) to: Run,
    /// The newest position that the asking node knows.
    pub(crate) known: Position,
    /// The packing of INTEGERs in returned rows.
    pub(crate) integers: Integers,
    pub(crate) op: WriteOp,
}

/// The outcome of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The write is done. The node that ran it had this position then.
    Done(Position, Vec<Packed>),
    /// The write is done, and its results are more than the log carries.
    TooLarge(Position),
    /// The write failed, and has done nothing.
    Failed(Error),
    /// The write has not run, and never will.
    NotRun,
    /// Nothing is known of the write.
    Unknown,
}

mod kind {
    pub(super) const EXECUTE: u8 = 0;
    pub(super) const BATCH: u8 = 1;
    pub(super) const SCRIPT: u8 = 2;
    pub(super) const STATEMENTS: u8 = 3;
    pub(super) const QUERY: u8 = 4;

    pub(super) const DONE: u8 = 0;
    pub(super) const FAILED: u8 = 1;
    pub(super) const NOT_RUN: u8 = 2;
    pub(super) const UNKNOWN: u8 = 3;
    pub(super) const TOO_LARGE: u8 = 4;
}

impl Request {
    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut out = Out::default();
        out.byte(VERSION);
        out.run(&self.id.from);
        out.number(self.id.number.get());
        out.run(&self.to);
        out.number(self.known.0);
        out.byte(self.integers as u8);
        match &self.op {
            WriteOp::Execute { sql, params } => {
                out.byte(kind::EXECUTE);
                out.sized(sql.as_bytes());
                out.sized(params.as_bytes());
            }
            WriteOp::Batch { sql, first, .. } => {
                out.byte(kind::BATCH);
                out.sized(sql.as_bytes());
                out.number(first.count as u64);
                out.sized(first.params.as_bytes());
                out.sized(first.params.texts());
            }
            WriteOp::Script(script) => {
                out.byte(kind::SCRIPT);
                out.sized(script.as_bytes());
            }
            WriteOp::Statements(statements) => {
                out.byte(kind::STATEMENTS);
                out.number(statements.texts.len() as u64);
                statements.texts.iter().for_each(|sql| out.sized(sql.as_bytes()));
                out.number(statements.count as u64);
                out.sized(statements.packed.as_bytes());
            }
            WriteOp::Query { sql, params, .. } => {
                out.byte(kind::QUERY);
                out.sized(sql.as_bytes());
                out.sized(params.as_bytes());
            }
        }
        out.0.into()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = In(bytes);
        if rest.byte()? != VERSION {
            return None;
        }
        Some(Self {
            id: RequestId {
                from: rest.run()?,
                number: rest.number()?.try_into().ok()?,
            },
            to: rest.run()?,
            known: Position(rest.number()?),
            integers: integers(rest.byte()?)?,
            op: op(&mut rest)?,
        })
    }
}

fn integers(byte: u8) -> Option<Integers> {
    [Integers::Auto, Integers::Number, Integers::BigInt]
        .into_iter()
        .find(|integers| *integers as u8 == byte)
}

fn op(rest: &mut In<'_>) -> Option<WriteOp> {
    Some(match rest.byte()? {
        kind::EXECUTE => WriteOp::Execute {
            sql: rest.text()?.into(),
            params: rest.params()?,
        },
        kind::BATCH => WriteOp::Batch {
            sql: rest.text()?.into(),
            first: ParamSets {
                count: usize::try_from(rest.number()?).ok()?,
                params: rest.params_and_texts()?,
            },
            more: None,
        },
        kind::SCRIPT => WriteOp::Script(rest.text()?.into()),
        kind::QUERY => WriteOp::Query {
            sql: rest.text()?.into(),
            params: rest.params()?,
            limits: None,
        },
        kind::STATEMENTS => {
            let texts = rest.count()?;
            WriteOp::Statements(Statements {
                texts: (0..texts)
                    .map(|_| rest.text().map(Into::into))
                    .collect::<Option<_>>()?,
                count: usize::try_from(rest.number()?).ok()?,
                packed: rest.params()?,
            })
        }
        _ => return None,
    })
}

impl Answer {
    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut out = Out::default();
        match self {
            Self::Done(position, results) => {
                out.byte(kind::DONE);
                out.number(position.0);
                out.number(results.len() as u64);
                results.iter().for_each(|result| write_result(&mut out, result));
            }
            Self::TooLarge(position) => {
                out.byte(kind::TOO_LARGE);
                out.number(position.0);
            }
            Self::Failed(error) => {
                out.byte(kind::FAILED);
                write_error(&mut out, error);
            }
            Self::NotRun => out.byte(kind::NOT_RUN),
            Self::Unknown => out.byte(kind::UNKNOWN),
        }
        out.0.into()
    }

    /// Returns the answer in at most `max` bytes. An answer that needs more bytes gives only the outcome of the write.
    pub(crate) fn to_bytes_within(&self, max: usize) -> Bytes {
        let bytes = self.to_bytes();
        match self {
            _ if bytes.len() <= max => bytes,
            Self::Done(position, _) => Self::TooLarge(*position).to_bytes(),
            Self::Failed(error) => without_message(error).to_bytes(),
            Self::TooLarge(_) | Self::NotRun | Self::Unknown => bytes,
        }
    }

    /// Returns `None` if the bytes are no answer.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = In(bytes);
        Some(match rest.byte()? {
            kind::DONE => {
                let position = Position(rest.number()?);
                let count = rest.count()?;
                Self::Done(
                    position,
                    (0..count)
                        .map(|_| read_result(&mut rest))
                        .collect::<Option<_>>()?,
                )
            }
            kind::TOO_LARGE => Self::TooLarge(Position(rest.number()?)),
            kind::FAILED => Self::Failed(read_error(&mut rest)?),
            kind::NOT_RUN => Self::NotRun,
            kind::UNKNOWN => Self::Unknown,
            _ => return None,
        })
    }
}

fn without_message(error: &Error) -> Answer {
    Answer::Failed(Error::Elsewhere {
        code: error.code().to_owned(),
        message: "the write failed, and the message is larger than the log carries between nodes".into(),
    })
}

fn write_result(out: &mut Out, result: &Packed) {
    out.signed(result.changes);
    out.signed(result.last_insert_rowid);
    write_columns(out, result.columns.as_deref());
    out.number(result.rows.len() as u64);
    for (layout, batch) in &result.rows {
        out.number(layout.names().len() as u64);
        layout.names().iter().for_each(|name| out.sized(name.as_bytes()));
        out.sized(batch);
    }
}

fn read_result(rest: &mut In<'_>) -> Option<Packed> {
    let (changes, last_insert_rowid) = (rest.signed()?, rest.signed()?);
    let columns = read_columns(rest)?;
    let batches = rest.count()?;
    let batch = |rest: &mut In<'_>| {
        let columns = rest.count()?;
        let names = (0..columns)
            .map(|_| rest.text().map(str::to_owned))
            .collect::<Option<_>>()?;
        let (layout, batch) = (ColumnLayout::named(names), rest.sized()?);
        // The receiver of the rows relies on the bytes.
        Rows::default().try_extend(&layout, batch)?;
        Some((layout, batch.into()))
    };
    Some(Packed {
        changes,
        last_insert_rowid,
        rows: (0..batches).map(|_| batch(rest)).collect::<Option<_>>()?,
        columns,
    })
}

fn write_columns(out: &mut Out, columns: Option<&Columns>) {
    out.byte(u8::from(columns.is_some()));
    let Some(columns) = columns else { return };
    out.number(columns.len() as u64);
    for column in columns.iter() {
        out.sized(column.name.as_bytes());
        let origin = [
            &column.declared_type,
            &column.table,
            &column.column,
            &column.database,
        ];
        origin.into_iter().for_each(|text| out.optional(text.as_deref()));
    }
}

fn read_columns(rest: &mut In<'_>) -> Option<Option<Arc<Columns>>> {
    if rest.byte()? == 0 {
        return Some(None);
    }
    let column = |rest: &mut In<'_>| {
        Some(Column {
            name: rest.text()?.to_owned(),
            declared_type: rest.optional()?,
            table: rest.optional()?,
            column: rest.optional()?,
            database: rest.optional()?,
        })
    };
    let columns = (0..rest.count()?).map(|_| column(rest)).collect::<Option<_>>()?;
    Some(Some(Columns::of_list(columns)))
}

impl Packed {
    /// Returns the result with its rows as values.
    pub(crate) fn unpack(self, position: Position) -> Written {
        let mut rows = Rows::default();
        self.rows
            .iter()
            .for_each(|(layout, batch)| rows.extend(layout, batch));
        Written {
            rows,
            changes: self.changes,
            last_insert_rowid: self.last_insert_rowid,
            position,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1000;

    /// Returns the answer to a write that returned a row with one text of this many bytes.
    fn done(bytes: usize) -> Answer {
        let (heap, end) = (48, 48 + bytes.next_multiple_of(8));
        // The numbers of rows, of columns and of bytes of texts, the flags, the beginnings of the texts and of the BLOBs, the
        // number of all bytes; then the kind of the column and the length of the text.
        let words = [1, 1, bytes, 0, heap, end, end, 0, 2, 0, bytes, 0];
        let mut batch: Vec<u8> = words
            .iter()
            .flat_map(|word| (*word as u32).to_le_bytes())
            .collect();
        batch.resize(end, b'x');
        let layout = ColumnLayout::named(vec!["a".into()]);
        let result = Packed {
            rows: vec![(layout, batch.into())],
            ..Packed::default()
        };
        Answer::Done(Position(7), vec![result])
    }

    fn over(answer: &Answer) -> Answer {
        let bytes = answer.to_bytes_within(MAX);
        assert!(bytes.len() <= MAX);
        Answer::from_bytes(&bytes).unwrap()
    }

    // G333
    #[test]
    fn an_answer_that_the_log_carries_travels_as_it_is() {
        let Answer::Done(Position(7), results) = over(&done(MAX / 2)) else {
            panic!("it is done");
        };
        let written = results.into_iter().next().unwrap().unpack(Position(7));
        let row = written.rows.first().unwrap();
        assert_eq!(row.get("a"), Some(&resqlite::Value::Text("x".repeat(MAX / 2))));
    }

    // G204
    #[test]
    fn an_answer_that_is_cut_or_changed_is_read_or_refused() {
        let bytes = done(20).to_bytes();
        assert!((0..bytes.len()).all(|length| Answer::from_bytes(&bytes[..length]).is_none()));
        for at in 0..bytes.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.to_vec();
                changed[at] = byte;
                if let Some(Answer::Done(_, results)) = Answer::from_bytes(&changed) {
                    results
                        .into_iter()
                        .for_each(|result| drop(result.unpack(Position(7))));
                }
            }
        }
    }

    // G333
    #[test]
    fn an_answer_that_is_larger_than_the_log_carries_says_where_the_write_stands() {
        assert!(matches!(over(&done(MAX)), Answer::TooLarge(Position(7))));
    }

    // G333
    #[test]
    fn an_error_whose_message_is_larger_than_the_log_carries_keeps_its_code() {
        let Answer::Failed(error) = over(&Answer::Failed(Error::NoQuorum("x".repeat(MAX)))) else {
            panic!("it has failed");
        };
        assert_eq!(error.code(), "RESQLITE_NO_QUORUM");
    }
}
