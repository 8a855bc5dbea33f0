//! Maintains the result of a statement: asks only for the rows that come from changed base rows.
//!
//! **The invariant.** The kept rows show exactly one state: all commits up to a number, and no later one. A run knows just as
//! exactly which state its snapshot shows, and that nobody else has committed in between; otherwise the whole statement runs.
//! So the commit log shows which base rows differ between the two states. All result rows that come from one of these base rows
//! are asked for again. No other result rows can differ.

use std::{collections::HashSet, rc::Rc, sync::Arc, time::Duration};

use resqlite_live::{
    ChangeSummary, Commit, CommitNumber, Dependencies, Image, KeptRow, RowChange, Rows, SourceKey,
    TableChange, TableDependency, Value,
};

use resqlite_sqlite::codes;

use super::{
    shown_rows::{RowsStep, ShownRows},
    why_whole::{Found, WhyWhole},
};
use crate::{
    commits::log::Commits,
    connection::{
        compare::TakeRows, engine_connection::EngineConnection, given::GivenImage, keep::Maintained,
    },
    core::{
        clock,
        error::{Error, Result},
    },
    maintain::{Absence, RowsPlan, Source},
    reader::ExactState,
    rows::ColumnLayout,
};

/// The rows that are kept of the last result of a statement.
pub(super) struct Kept {
    pub(super) plan: Arc<RowsPlan>,
    pub(super) shown: ShownRows,
    pub(super) state: ExactState,
}

/// The result of a maintenance step.
pub(super) struct Step {
    pub(super) rows: RowsStep,
    /// The number of base rows that were asked for.
    pub(super) asked: u64,
}

/// A base row: the number of its source, and its key.
type BaseRow = (usize, SourceKey);

/// The base rows that have changed.
pub(super) struct Changed<'c> {
    rows: Vec<BaseRow>,
    /// The old images of changed rows behind LEFT JOIN whose partners need not be kept, with the numbers of their sources.
    before: Vec<(usize, GivenImage<'c>)>,
}

impl Kept {
    /// Makes the change that a step to a later state has found.
    pub(super) fn apply(&mut self, step: Step, state: ExactState) {
        self.state = state;
        self.shown.apply(step.rows);
    }

    /// Returns the base rows that these commits have changed. Returns a reason instead if they are not known, or if they are
    /// more than `most`.
    pub(super) fn changed<'c>(
        &self,
        commits: &'c [Commit],
        dependencies: &Dependencies,
        most: usize,
    ) -> Found<Changed<'c>> {
        let (mut changed, mut before) = (HashSet::new(), Vec::new());
        for Commit { summary, .. } in commits {
            for (number, source) in self.plan.sources.iter().enumerate() {
                let keys = keys(summary, source, dependencies).ok_or(WhyWhole::UnknownChanges)?;
                if let (Absence::Unknown, [_, ..]) = (&source.absence, &keys[..]) {
                    return Err(WhyWhole::Undecided);
                }
                changed.extend(keys.into_iter().map(|key| (number, key)));
                let images = old_images(summary, source, dependencies).ok_or(WhyWhole::UnknownChanges)?;
                before.extend(images.map(|image| (number, image)));
            }
            if changed.len().max(before.len()) > most {
                return Err(WhyWhole::ManyChanges);
            }
        }
        Ok(Changed {
            rows: changed.into_iter().collect(),
            before,
        })
    }

    /// Finds what the changed base rows change in the result. New rows go to `take_rows`. If the result must be read as a
    /// whole, returns the reason before it hands over any row.
    pub(super) fn step(
        &self,
        connection: &mut EngineConnection,
        maintained: Maintained<'_>,
        layout: &Arc<ColumnLayout>,
        changed: Changed<'_>,
        bounds: StepBounds,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<Found<Step>> {
        let found = bounds.in_time(connection, |connection| {
            if_it_has_values(self.now(connection, maintained, changed, bounds.most))
        })?;
        let (now, changed) = match found {
            None => return Ok(Err(WhyWhole::SlowStep)),
            Some(None) => return Ok(Err(WhyWhole::Undecided)),
            Some(Some(None)) => return Ok(Err(WhyWhole::ManyChanges)),
            Some(Some(Some(found))) => found,
        };
        let Some(rows) = self.shown.plan(&changed, now) else {
            return Ok(Err(WhyWhole::Undecided));
        };
        let is_complete = connection.hand_over_kept(maintained, layout, rows.new_rows(), take_rows)?;
        let asked = changed.len() as u64;
        Ok(if is_complete {
            Ok(Step { rows, asked })
        } else {
            Err(WhyWhole::Undecided)
        })
    }

    /// Returns the rows of the result that now come from changed base rows, and the base rows for which they were asked; `None`
    /// if there are more than `most`.
    fn now(
        &self,
        connection: &mut EngineConnection,
        maintained: Maintained<'_>,
        changed: Changed<'_>,
        most: usize,
    ) -> Result<Option<(Vec<KeptRow>, Vec<BaseRow>)>> {
        let Some(changed) = self.in_preserved_sources(connection, maintained, changed, most)? else {
            return Ok(None);
        };
        let now = ask(connection, maintained, &changed, most)?;
        Ok(now.map(|now| (now, changed)))
    }

    /// Replaces base rows behind LEFT JOIN by the rows of the first source of their SELECT that they match or have matched,
    /// since these may have gained or lost a partner. Returns `None` if there are more than `most`.
    fn in_preserved_sources(
        &self,
        connection: &mut EngineConnection,
        maintained: Maintained<'_>,
        changed: Changed<'_>,
        most: usize,
    ) -> Result<Option<Vec<BaseRow>>> {
        let sources = &self.plan.sources;
        let Changed { rows, mut before } = changed;
        if rows.iter().all(|(source, _)| !sources[*source].is_optional()) {
            return Ok(Some(rows));
        }
        let (mut preserved, mut matches) = (HashSet::new(), Vec::new());
        for (number, key) in rows {
            let source = &sources[number];
            let first = source.first;
            if !source.is_optional() {
                preserved.insert((number, key));
                continue;
            }
            let before = self.shown.rows.partners(number, &key, first);
            preserved.extend(before.map(|left| (first, left.clone())));
            if let Absence::Asked(partners) = &source.absence {
                let both = (&sources[first], source);
                let found = connection.joined_with(maintained, both, partners, &key, most)?;
                preserved.extend(found.into_iter().map(|left| (first, left)));
            } else {
                connection.rows_from(maintained, source, &key, most, &mut matches)?;
            }
            if matches.len().max(preserved.len()) > most {
                return Ok(None);
            }
            preserved.extend(matches.drain(..).map(|row| (first, row.sources[first].clone())));
        }
        for (number, source) in sources.iter().enumerate() {
            let images: Vec<GivenImage<'_>> = before
                .extract_if(.., |(of, _)| *of == number)
                .map(|(_, image)| image)
                .collect();
            let Absence::Asked(partners) = &source.absence else {
                continue;
            };
            if images.is_empty() {
                continue;
            }
            let first = &sources[source.first];
            let found = connection.joined_with_images(maintained.query, first, partners, &images, most)?;
            preserved.extend(found.into_iter().map(|left| (source.first, left)));
            if preserved.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(preserved.into_iter().collect()))
    }
}

/// The bounds within which a step pays.
#[derive(Clone, Copy)]
pub(super) struct StepBounds {
    /// The largest number of rows that can be asked for.
    pub(super) most: usize,
    /// The longest time that asking may take; `None` if it may take any time.
    pub(super) time: Option<Duration>,
}

impl StepBounds {
    /// The bounds for results that are always maintained.
    pub(super) const NONE: Self = Self {
        most: usize::MAX,
        time: None,
    };

    /// Does a part of a step in which no row is handed over; `None` if it takes too long.
    pub(super) fn in_time<R>(
        self,
        connection: &mut EngineConnection,
        work: impl FnOnce(&mut EngineConnection) -> Result<R>,
    ) -> Result<Option<R>> {
        let Some(time) = self.time else {
            return work(connection).map(Some);
        };
        let interrupt = Rc::clone(&connection.guard.interrupt);
        interrupt.until(clock::now() + time, || work(connection))
    }
}

/// The commits that lead from one state to a later one, without those before number `first`; `None` if they are not known.
pub(super) fn commits_between(
    commits: &Commits,
    state: &ExactState,
    later: &ExactState,
    first: CommitNumber,
) -> Option<Vec<Commit>> {
    if !state.is_followed_by(later) {
        return None;
    }
    let mut between = commits.since(state.number.max(first.before())).ok()?;
    between.retain(|commit| commit.number <= later.number);
    Some(between)
}

/// Returns what was found; `None` if an expression has no value for some row. The whole statement may never look at that row,
/// for example because it looks at the tables in another order.
pub(super) fn if_it_has_values<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if is_of_values(&error) => Ok(None),
        found => found.map(Some),
    }
}

/// Returns whether the error is that an expression has no value for some row.
pub(super) fn is_of_values(error: &Error) -> bool {
    let primary = error.sqlite().map(resqlite_sqlite::Error::primary);
    primary.is_some_and(|primary| [codes::ERROR, codes::TOOBIG, codes::MISMATCH].contains(&primary))
}

/// The rows of the result that come from any of these base rows; `None` if they are more than `most`.
fn ask(
    connection: &mut EngineConnection,
    maintained: Maintained<'_>,
    changed: &[BaseRow],
    most: usize,
) -> Result<Option<Vec<KeptRow>>> {
    let mut rows = Vec::new();
    for (source, key) in changed {
        let source = &maintained.plan.sources[*source];
        connection.rows_from(maintained, source, key, most, &mut rows)?;
        if rows.len() > most {
            return Ok(None);
        }
    }
    if changed.len() > 1 && maintained.plan.sources.len() > 1 {
        // A row can come from several of the changed base rows.
        let mut known = HashSet::new();
        rows.retain(|row| known.insert(row.sources.clone()));
    }
    Ok(Some(rows))
}

/// Returns the keys of those rows of a source that a commit has changed and that matter; `None` if the keys are not known.
fn keys(summary: &ChangeSummary, source: &Source, dependencies: &Dependencies) -> Option<Vec<SourceKey>> {
    let Some(change) = summary.table(&source.table) else {
        return Some(Vec::new());
    };
    let Rows::Only(rows) = &change.rows else {
        return None;
    };
    let positions: Option<Vec<usize>> = source
        .key
        .iter()
        .map(|column| change.watched.images.binary_search(column).ok())
        .collect();
    let positions = positions?;
    let readers = || {
        dependencies
            .tables
            .iter()
            .filter(|read| read.table == source.table)
    };
    let mut keys = Vec::new();
    for row in rows.iter().filter(|row| matters(row, change, readers())) {
        for image in row.before().into_iter().chain(row.after()) {
            keys.push(key(image, &positions, source)?);
        }
    }
    Some(keys)
}

/// Returns the old images of those rows of a source that a commit has changed and that matter, if the images show what the rows
/// were joined with. Returns `None` if the images are not known.
fn old_images<'c>(
    summary: &'c ChangeSummary,
    source: &Source,
    dependencies: &Dependencies,
) -> Option<impl Iterator<Item = GivenImage<'c>> + use<'c>> {
    let mut images = Vec::new();
    if let (Absence::Asked(partners), Some(change)) = (&source.absence, summary.table(&source.table)) {
        let Rows::Only(rows) = &change.rows else {
            return None;
        };
        let columns = &change.watched.images[..];
        let is_told = |column: &u16| columns.binary_search(column).is_ok();
        if !partners.before.needed.iter().all(is_told) {
            return None;
        }
        let readers = || {
            dependencies
                .tables
                .iter()
                .filter(|read| read.table == source.table)
        };
        let rows = rows.iter().filter(|row| matters(row, change, readers()));
        images.extend(rows.filter_map(|row| row.before()).map(|image| GivenImage {
            image,
            columns,
            is_new: false,
        }));
    }
    Some(images.into_iter())
}

/// Returns whether a changed row matters at any place that reads its table.
pub(super) fn matters<'d>(
    row: &RowChange,
    change: &TableChange,
    mut readers: impl Iterator<Item = &'d TableDependency>,
) -> bool {
    readers.any(|read| read.concerns(row, change))
}

fn key(image: &Image, positions: &[usize], source: &Source) -> Option<SourceKey> {
    match positions {
        [at] if source.has_rowid() => match image[*at] {
            Value::Integer(rowid) => Some(SourceKey::Rowid(rowid)),
            _ => None,
        },
        _ => Some(SourceKey::Columns(
            positions.iter().map(|at| image[*at].clone()).collect(),
        )),
    }
}
