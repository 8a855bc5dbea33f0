//! Several statements that form one write, and the result of each.

use std::{collections::HashMap, sync::Arc};

use crate::{
    core::params::Params,
    rows::{Columns, Packed},
};

/// Statements with their parameters, packed. A repeated text is kept once.
#[derive(Debug, Clone)]
pub struct Statements {
    /// The SQL texts: one statement each.
    pub texts: Vec<Arc<str>>,
    /// The number of statements.
    pub count: usize,
    /// For each statement, a `u32` with the position of its text, followed by its parameters; back to back.
    pub packed: Params,
}

impl<'a> FromIterator<(&'a str, Params)> for Statements {
    fn from_iter<I: IntoIterator<Item = (&'a str, Params)>>(statements: I) -> Self {
        let (mut texts, mut packed, mut count) = (Vec::new(), Vec::new(), 0);
        let mut positions = HashMap::new();
        for (sql, params) in statements {
            let position = *positions.entry(sql).or_insert_with(|| {
                texts.push(sql.into());
                texts.len() as u32 - 1
            });
            packed.extend(position.to_le_bytes());
            packed.extend(params.as_bytes());
            count += 1;
        }
        let range = 0..packed.len();
        Self {
            texts,
            count,
            packed: Params::packed(packed.into(), range),
        }
    }
}

/// The result of one statement.
#[derive(Debug)]
pub struct StatementResult {
    /// The columns of its rows.
    pub columns: Arc<Columns>,
    /// Its rows, packed, unless they were handed over before.
    pub rows: Vec<Packed>,
    /// The number of rows that the statement itself inserted, updated or deleted (not its triggers or cascades).
    pub changes: i64,
    /// Row id of the last row inserted up to then, as in [`Written`](crate::binding::Written); 0 for a statement that only reads.
    pub last_insert_rowid: i64,
}
