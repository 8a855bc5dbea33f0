//! The rows that are kept to show a window of a result.
//!
//! **The invariant.** All rows of the whole result that are not kept sort behind the last kept row, the border. So while the
//! window ends before the border, a row that is not kept and does not change is not shown. A row that changes and then sorts
//! behind the border is not shown either.

use std::ops::Range;

use crate::kept::{Clip, KeptRow, KeptRows, OutOfOrder, Plan, SourceKey, Window};

/// The extent of the rows that are kept to show a window of a result: the rows up to the end of the window, and some more, so
/// that a few rows may leave. The rows are in [`KeptRows`].
#[derive(Debug)]
pub struct KeptWindow {
    window: Window,
    /// The number of rows that are kept after the window.
    slack: usize,
    /// The result has no rows except the kept rows.
    is_complete: bool,
}

impl KeptWindow {
    /// Returns a window for which nothing is kept yet. `slack` is the number of rows that are kept beyond those that the window
    /// needs.
    pub fn new(window: Window, slack: usize) -> Self {
        Self {
            window,
            slack,
            is_complete: false,
        }
    }

    /// Returns the largest number of rows that are read to be kept.
    pub fn most(&self) -> usize {
        self.window.end.saturating_add(self.slack)
    }

    /// Notes that these rows have been read.
    pub fn filled(&mut self, rows: &KeptRows) {
        self.is_complete = rows.len() < self.most();
    }

    /// Returns the slack with which to read the rows again. It is greater, up to `most`, if the present slack has been used up.
    pub fn next_slack(&self, rows: &KeptRows, most: usize) -> usize {
        let is_used_up = !self.is_complete && rows.len() < self.window.end.saturating_add(self.slack / 2);
        if is_used_up {
            self.slack.saturating_mul(2).min(most)
        } else {
            self.slack
        }
    }

    /// The number of rows that are shown.
    pub fn shown(&self, rows: &KeptRows) -> usize {
        self.window.shown(rows.len()).len()
    }

    /// The fingerprints of the rows that are shown.
    pub fn fingerprints(&self, rows: &KeptRows) -> Vec<u64> {
        let Range { start, end } = self.window.shown(rows.len());
        rows.fingerprints_at(start as u32..end as u32).collect()
    }

    /// Returns the change of all kept rows, as [`KeptRows::plan`] returns it, and the part of the change that is shown. Returns
    /// `None` if too few rows are left to know which rows the window shows.
    ///
    /// # Errors
    /// As [`KeptRows::plan`].
    pub fn plan(
        &self,
        rows: &KeptRows,
        changed: &[(usize, SourceKey)],
        mut now: Vec<KeptRow>,
    ) -> Result<Option<(Plan, Clip)>, OutOfOrder> {
        if !self.is_complete {
            now.retain(|row| !rows.ends_before(row));
        }
        let plan = rows.plan(changed, now)?;
        let left = plan.rows_after(rows.len());
        // Where no row is kept there is no border.
        if !self.is_complete && left < self.window.end.max(1) {
            return Ok(None);
        }
        let clip = rows.clip(&plan, self.window);
        Ok(Some((plan, clip)))
    }

    /// Makes the change.
    ///
    /// # Panics
    /// As [`KeptRows::apply`].
    pub fn apply(&mut self, rows: &mut KeptRows, plan: Plan) {
        rows.apply(plan);
        if rows.len() > self.most().saturating_add(self.slack) {
            rows.truncate(self.most());
            self.is_complete = false;
        }
    }
}
