//! A listener that folds patches into rows, and notes whatever the engine must not do.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use resqlite::{
    CommitId, Error, Rows, Value,
    binding::{ColumnLayout, RowBatch},
    live::{Delivery, Emission, Listener, Segment},
};

use crate::rows::same_values;

/// What a stream has been told so far.
#[derive(Default)]
pub struct Told {
    pub parts: Vec<Fold>,
    pub emissions: usize,
    pub errors: usize,
    /// The commit of the last emission.
    pub commit: CommitId,
    /// The error that is not healed.
    pub error: Option<String>,
    /// Nothing may follow.
    pub ended: bool,
    /// Broken promises.
    pub problems: Vec<String>,
    /// Emissions wait to be acknowledged.
    lags: bool,
    pub unacknowledged: bool,
}

/// The result of one query, as its patches make it.
#[derive(Clone, Default, PartialEq)]
pub struct Fold {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

/// What the test and the listener share.
#[derive(Clone, Default)]
pub struct Notes(Arc<Mutex<Told>>);

impl Notes {
    pub fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn listener(&self, parts: usize) -> Box<dyn Listener> {
        self.audited_listener(parts, |_| Ok(()))
    }

    /// `audit` looks at every emission.
    pub fn audited_listener(
        &self,
        parts: usize,
        audit: impl Fn(&[Fold]) -> Result<(), String> + Send + 'static,
    ) -> Box<dyn Listener> {
        self.lock().parts = vec![Fold::default(); parts];
        Box::new(Folder {
            notes: self.clone(),
            fresh: Vec::new(),
            patched: Vec::new(),
            audit: Box::new(audit),
        })
    }
}

type Audit = Box<dyn Fn(&[Fold]) -> Result<(), String> + Send>;

struct Folder {
    notes: Notes,
    /// Rows for the next patch.
    fresh: Vec<Vec<Value>>,
    /// Parts of the emission that is not complete.
    patched: Vec<(usize, Fold)>,
    audit: Audit,
}

impl Folder {
    fn problem(&self, what: impl Into<String>) {
        self.notes.lock().problems.push(what.into());
    }
}

impl Listener for Folder {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, slice: &RowBatch<'_>) -> bool {
        let mut rows = Rows::default();
        rows.extend(layout, &slice.to_bytes());
        self.fresh.extend(rows.iter().map(|row| row.values().to_vec()));
        true
    }

    fn patch(&mut self, part: usize, layout: &Arc<ColumnLayout>, runs: &[Segment]) {
        let old = self.notes.lock().parts[part].clone();
        let fresh = std::mem::take(&mut self.fresh);
        let columns = layout.names().to_vec();
        match fold(&old.rows, fresh, runs, old.columns == columns) {
            Ok(rows) => self.patched.push((part, Fold { columns, rows })),
            Err(problem) => self.problem(problem),
        }
    }

    fn emit(&mut self, emission: Emission) -> Delivery {
        let mut told = self.notes.lock();
        told.look_at(emission, &self.patched);
        for (part, fold) in self.patched.drain(..) {
            told.parts[part] = fold;
        }
        if let Err(problem) = (self.audit)(&told.parts) {
            told.problems.push(format!("{problem}: {emission:?}"));
        }
        told.answer()
    }

    fn discard(&mut self) {
        self.patched.clear();
        self.fresh.clear();
    }

    fn fail(&mut self, error: &Error, ended: bool) -> Delivery {
        let mut told = self.notes.lock();
        let has_rows = !self.patched.is_empty() || !self.fresh.is_empty();
        if has_rows && !ended {
            told.problems
                .push(format!("the rows of a failed run are not discarded: {error}"));
        }
        if told.ended {
            told.problems.push(format!("an error after the end: {error}"));
        }
        if ended && told.emissions > 0 && *error != Error::Closed {
            told.problems
                .push(format!("a query that has worked ended: {error}"));
        }
        told.errors += 1;
        told.error = Some(error.to_string());
        told.ended |= ended;
        told.answer()
    }
}

impl Told {
    /// From now on what is told is acknowledged later, or at once again.
    pub fn set_lag(&mut self, lags: bool) {
        self.lags = lags;
    }

    fn answer(&mut self) -> Delivery {
        if std::mem::replace(&mut self.unacknowledged, self.lags) {
            self.problems
                .push("told again before the last was acknowledged".into());
        }
        if self.lags {
            Delivery::Pending
        } else {
            Delivery::Taken
        }
    }

    fn look_at(&mut self, emission: Emission, patched: &[(usize, Fold)]) {
        let mut problem = |what: &str| self.problems.push(format!("{what}: {emission:?}"));
        if self.ended {
            problem("an emission after the end");
        }
        if (self.emissions == 0) != emission.reason.is_none() {
            problem("only the first emission has no reason");
        }
        if emission.commit < self.commit {
            problem("the commit number went back");
        }
        let first = self.emissions == 0;
        if first && patched.len() != self.parts.len() {
            problem("the first emission is not complete");
        }
        let changed = patched
            .iter()
            .any(|(part, fold)| !fold.is_same(&self.parts[*part]));
        if !first && !changed && self.error.is_none() {
            problem("an emission in which nothing changed");
        }
        self.emissions += 1;
        self.commit = emission.commit;
        self.error = None;
    }
}

impl Fold {
    /// Whether it is exactly this result. Without rows, nobody is told of new columns.
    pub fn equals(&self, other: &Self) -> bool {
        (other.rows.is_empty() || self.columns == other.columns) && same_rows(&self.rows, &other.rows)
    }

    pub fn of(rows: &Rows) -> Self {
        Self {
            columns: rows.columns().to_vec(),
            rows: rows.iter().map(|row| row.values().to_vec()).collect(),
        }
    }

    /// Without the columns behind the first ones.
    pub fn first_columns(mut self, count: usize) -> Self {
        self.columns.truncate(count);
        self.rows.iter_mut().for_each(|row| row.truncate(count));
        self
    }

    /// Whether it has the same rows, in whatever order.
    pub fn has_rows_of(&self, other: &Self) -> bool {
        self.has_rows(other, |value| format!("{value:?}"))
    }

    /// Whether it has rows that SQLite finds equal to those, in whatever order: 1 equals 1.0, and 0.0 equals -0.0.
    pub fn has_equal_rows(&self, other: &Self) -> bool {
        self.has_rows(other, |value| match value {
            Value::Real(real) if *real as i64 as f64 == *real => {
                format!("{:?}", Value::Integer(*real as i64))
            }
            value => format!("{value:?}"),
        })
    }

    fn has_rows(&self, other: &Self, text: fn(&Value) -> String) -> bool {
        let sorted = |fold: &Self| {
            let row = |row: &Vec<Value>| -> Vec<String> { row.iter().map(text).collect() };
            let mut rows: Vec<_> = fold.rows.iter().map(row).collect();
            rows.sort();
            rows
        };
        self.columns == other.columns && sorted(self) == sorted(other)
    }

    /// Whether the rows of another one follow each other in it.
    pub fn has_slice(&self, other: &Self) -> bool {
        (0..=self.rows.len().saturating_sub(other.rows.len())).any(|first| {
            let rows = &self.rows[first..];
            same_rows(&rows[..rows.len().min(other.rows.len())], &other.rows)
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.columns == other.columns && same_rows(&self.rows, &other.rows)
    }
}

fn same_rows(left: &[Vec<Value>], right: &[Vec<Value>]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| same_values(left, right))
}

/// Applies a patch, strictly: every old row is kept at most once, and only rows that were not there are handed over
/// (unless the columns are others; then that is every row).
fn fold(
    old: &[Vec<Value>],
    fresh: Vec<Vec<Value>>,
    runs: &[Segment],
    same_columns: bool,
) -> Result<Vec<Vec<Value>>, String> {
    let mut kept = vec![false; old.len()];
    let mut fresh = fresh.into_iter();
    let mut rows = Vec::new();
    let mut added = Vec::new();
    for run in runs {
        match *run {
            Segment::Keep { start, count } => {
                let range = start as usize..(start + count) as usize;
                let same = old
                    .get(range.clone())
                    .ok_or_else(|| format!("of {} rows, {range:?} are kept", old.len()))?;
                if kept[range.clone()].contains(&true) {
                    return Err(format!("a row is kept twice: {runs:?}"));
                }
                kept[range].fill(true);
                rows.extend_from_slice(same);
            }
            Segment::New { count } => {
                for _ in 0..count {
                    let row = fresh
                        .next()
                        .ok_or_else(|| format!("a new row was not handed over: {runs:?}"))?;
                    added.push(row.clone());
                    rows.push(row);
                }
            }
        }
    }
    if fresh.next().is_some() {
        return Err(format!("a row was handed over for nothing: {runs:?}"));
    }
    // Results of joins may be long: a set, and texts that tell `0.0` from `-0.0`.
    let added: HashSet<_> = added.iter().map(|row| format!("{row:?}")).collect();
    let again = |row: &&Vec<Value>| !added.is_empty() && added.contains(&format!("{row:?}"));
    let mut removed = (0..old.len()).filter(|&at| !kept[at]).map(|at| &old[at]);
    match removed.find(again) {
        Some(row) if same_columns => Err(format!("a row that was there is handed over again: {row:?}")),
        _ => Ok(rows),
    }
}

#[cfg(test)]
mod tests {
    use resqlite::{Value, live::Segment};

    use super::fold;

    fn rows(values: &[i64]) -> Vec<Vec<Value>> {
        values.iter().map(|&value| vec![value.into()]).collect()
    }

    #[test]
    fn old_and_new_rows_come_in_the_order_of_the_runs() {
        let runs = [
            Segment::New { count: 1 },
            Segment::Keep { start: 1, count: 2 },
            Segment::Keep { start: 0, count: 1 },
        ];
        assert_eq!(
            fold(&rows(&[1, 2, 3]), rows(&[9]), &runs, true),
            Ok(rows(&[9, 2, 3, 1]))
        );
    }

    #[test]
    fn patches_that_say_too_much_are_found() {
        let keep = Segment::Keep { start: 0, count: 1 };
        let new = Segment::New { count: 1 };
        assert!(fold(&rows(&[1]), rows(&[]), &[keep, keep], true).is_err());
        assert!(
            fold(
                &rows(&[1]),
                rows(&[]),
                &[Segment::Keep { start: 1, count: 1 }],
                true
            )
            .is_err()
        );
        assert!(fold(&rows(&[1]), rows(&[]), &[new], true).is_err());
        assert!(fold(&rows(&[1]), rows(&[2]), &[keep], true).is_err());
        assert!(fold(&rows(&[1]), rows(&[1]), &[new], true).is_err());
    }
}
