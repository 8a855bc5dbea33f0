//! The rows that are kept of a result, and which of them a LIMIT shows.

use resqlite_live::{Clip, KeptRow, KeptRows, KeptWindow, Plan, Segment, SourceKey};

use crate::core::limits;

/// The kept rows of a result.
pub(super) struct ShownRows {
    pub(super) rows: KeptRows,
    /// If the result has a LIMIT: the part of the rows that is shown.
    window: Option<KeptWindow>,
}

/// A change of the kept rows.
pub(super) struct RowsStep {
    plan: Plan,
    /// The part of the change that a LIMIT shows.
    clip: Option<Clip>,
}

impl ShownRows {
    /// Keeps rows that have just been read for this purpose.
    pub(super) fn new(rows: KeptRows, mut window: Option<KeptWindow>) -> Self {
        if let Some(window) = &mut window {
            window.filled(&rows);
        }
        Self { rows, window }
    }

    /// The number of rows to keep behind the window when the rows are read again; `None` if there is no window.
    pub(super) fn next_slack(&self) -> Option<usize> {
        let window = self.window.as_ref()?;
        Some(window.next_slack(&self.rows, limits::WINDOW_SLACK_MAX))
    }

    /// The fingerprints of the result.
    pub(super) fn fingerprints(&self) -> Vec<u64> {
        match &self.window {
            None => self.rows.fingerprints(),
            Some(window) => window.fingerprints(&self.rows),
        }
    }

    /// The number of rows of the result.
    pub(super) fn len(&self) -> usize {
        match &self.window {
            None => self.rows.len(),
            Some(window) => window.shown(&self.rows),
        }
    }

    /// Plans the change after which the rows from the base rows `changed` are `now`; `None` if the kept rows do not determine
    /// that change.
    pub(super) fn plan(&self, changed: &[(usize, SourceKey)], now: Vec<KeptRow>) -> Option<RowsStep> {
        Some(match &self.window {
            None => RowsStep {
                plan: self.rows.plan(changed, now).ok()?,
                clip: None,
            },
            Some(window) => {
                let (plan, clip) = window.plan(&self.rows, changed, now).ok()??;
                RowsStep {
                    plan,
                    clip: Some(clip),
                }
            }
        })
    }

    /// Makes the change.
    pub(super) fn apply(&mut self, RowsStep { plan, .. }: RowsStep) {
        match &mut self.window {
            None => self.rows.apply(plan),
            Some(window) => window.apply(&mut self.rows, plan),
        }
    }
}

impl RowsStep {
    /// The segments that make the result from the last one; `None` if the result is the same.
    pub(super) fn segments(&self) -> Option<&[Segment]> {
        match &self.clip {
            None => (!self.plan.is_unchanged()).then(|| self.plan.segments()),
            Some(clip) => (!clip.is_unchanged()).then(|| clip.segments()),
        }
    }

    /// The rows of the segments that are new, in order.
    pub(super) fn new_rows(&self) -> impl Iterator<Item = &KeptRow> {
        let (all, shown) = match &self.clip {
            None => (Some(self.plan.new_rows()), &[][..]),
            Some(clip) => (None, clip.new_rows()),
        };
        all.into_iter().flatten().chain(shown)
    }
}
