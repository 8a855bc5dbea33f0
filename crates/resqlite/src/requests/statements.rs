//! Several statements that are one write, and what each of them did.

use std::{collections::HashMap, sync::Arc};

use crate::{
    core::params::Params,
    rows::{Columns, Packed},
};

/// Statements with their parameters, packed. A text that repeats stands here once.
#[derive(Debug, Clone)]
pub struct Statements {
    /// The SQL texts: one statement each.
    pub texts: Vec<Arc<str>>,
    /// The number of statements.
    pub count: usize,
    /// For each statement a `u32`, the position of its text, and its parameters; back to back.
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
    /// Rows that it inserted, updated or deleted itself (not by triggers or cascades).
    pub changes: i64,
    /// Row id of the last row inserted by then, as in [`Written`](crate::binding::Written); 0 for a statement that only reads.
    pub last_insert_rowid: i64,
}
