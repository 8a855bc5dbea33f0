//! Maintains the result of a statement that makes groups: a changed row takes back what it contributed to its group, and
//! adds what it contributes now.
//!
//! **The invariant** is that of [`maintain`](super::maintain): the kept groups are those of exactly one state. Here the commit
//! log must also be exact: a change that was undone, or that is reported without its images, would be counted.

use std::{collections::HashMap, sync::Arc};

use resqlite_live::{Commit, Dependencies, Group, Groups, GroupsChange, KeptRow, Rows, SourceKey, Value};

use super::{
    maintain::{StepBounds, if_it_has_values, matters},
    shown_rows::{RowsStep, ShownRows},
    why_whole::{Found, WhyWhole},
};
use crate::{
    connection::{
        compare::TakeRows,
        engine_connection::EngineConnection,
        given::GivenImage,
        groups::{GivenGroup, Grouped},
    },
    core::error::Result,
    maintain::{GroupsPlan, GroupsSource, OverImages},
    reader::ExactState,
};

/// The groups that are kept from the last result of a statement, and the rows that were made from them.
pub(super) struct KeptGroups {
    pub(super) plan: Arc<GroupsPlan>,
    pub(super) groups: Groups,
    /// The rows of all groups.
    pub(super) shown: ShownRows,
    pub(super) state: ExactState,
}

/// The changes that changed rows make to groups.
pub(super) struct GroupsStep {
    groups: GroupsChange,
    pub(super) rows: RowsStep,
    /// The number of rows that were looked at: those that have changed, and those of groups that were read again.
    pub(super) asked: u64,
}

impl KeptGroups {
    /// Approximate bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        self.groups.weight() + self.shown.rows.weight()
    }

    /// Makes the change that a step to a later state has found.
    pub(super) fn apply(&mut self, step: GroupsStep, state: ExactState) {
        self.state = state;
        self.groups.apply(step.groups);
        self.shown.apply(step.rows);
    }

    /// Finds what the changed rows change in groups and in the result. New rows of the result go to `take_rows`. If the result
    /// must be read as a whole, returns the reason before it hands over any row.
    pub(super) fn step(
        &self,
        connection: &mut EngineConnection,
        grouped: Grouped<'_>,
        changed: &ChangedImages<'_>,
        bounds: StepBounds,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<Found<GroupsStep>> {
        let most = bounds.most;
        let changed_rows = changed.asked;
        let (came, left) = match changed.over {
            None => (Vec::new(), Vec::new()),
            Some(over) => {
                let found = bounds.in_time(connection, |connection| {
                    if_it_has_values(connection.contributions(grouped, over, &changed.images, most))
                });
                match found? {
                    None => return Ok(Err(WhyWhole::SlowStep)),
                    Some(None) => return Ok(Err(WhyWhole::Undecided)),
                    Some(Some(None)) => return Ok(Err(WhyWhole::ManyChanges)),
                    Some(Some(Some(found))) => found,
                }
            }
        };
        let Ok(mut change) = self.groups.plan(&came, &left) else {
            return Ok(Err(WhyWhole::Undecided));
        };
        let read_again = bounds.in_time(connection, |connection| {
            make_known(connection, grouped, &mut change, most)
        });
        let read_again = match read_again? {
            None => return Ok(Err(WhyWhole::SlowStep)),
            Some(None) => return Ok(Err(WhyWhole::Undecided)),
            Some(Some(read_again)) => read_again,
        };
        let changed: Vec<(usize, SourceKey)> = change
            .groups()
            .map(|(values, _)| (0, SourceKey::Columns(values.into())))
            .collect();
        let groups: Vec<GivenGroup<'_>> = change
            .groups()
            .filter_map(|(values, group)| Some((values, group?)))
            .collect();
        let now = match &groups[..] {
            [] => Some(Vec::new()),
            groups => if_it_has_values(connection.rows_of_groups(grouped, groups))?,
        };
        let Some(now) = now else {
            return Ok(Err(WhyWhole::Undecided));
        };
        let Some(rows) = self.shown.plan(&changed, now) else {
            return Ok(Err(WhyWhole::Undecided));
        };
        // A row that a LIMIT now shows may be of a group that has not changed.
        let changed: HashMap<&[Value], &Group> = groups.into_iter().collect();
        let group = |row: &KeptRow| {
            let SourceKey::Columns(values) = &row.sources[0] else {
                return None;
            };
            let now = changed
                .get_key_value(&**values)
                .map(|(values, group)| (*values, *group));
            now.or_else(|| self.groups.get_key_value(values))
        };
        let new: Vec<GivenGroup<'_>> = rows.new_rows().filter_map(group).collect();
        let is_complete =
            new.is_empty() || connection.hand_over_groups(grouped, &new, rows.new_rows(), take_rows)?;
        Ok(if is_complete {
            let asked = changed_rows + read_again;
            Ok(GroupsStep {
                groups: change,
                rows,
                asked,
            })
        } else {
            Err(WhyWhole::Undecided)
        })
    }
}

/// Reads the rows of unknown groups to make these groups known. Returns the number of rows; `None` if that cannot be done, or
/// takes more than `most` rows.
fn make_known(
    connection: &mut EngineConnection,
    grouped: Grouped<'_>,
    change: &mut GroupsChange,
    most: usize,
) -> Result<Option<u64>> {
    if change.unknown().is_empty() {
        return Ok(Some(0));
    }
    let Some(of_groups) = &grouped.plan.of_groups else {
        return Ok(None);
    };
    let made = connection.groups_of(grouped, of_groups, change.unknown(), most);
    let Some(made) = if_it_has_values(made)?.flatten() else {
        return Ok(None);
    };
    let rows = made.iter().map(|(_, group)| group.rows()).sum();
    Ok(change.know(|values| made.get(values)).is_ok().then_some(rows))
}

/// The images of the changed rows that matter.
#[derive(Default)]
pub(super) struct ChangedImages<'c> {
    /// The statement that finds the contributions of the images; `None` if there are no images.
    over: Option<&'c OverImages>,
    images: Vec<GivenImage<'c>>,
    /// The number of rows that have changed.
    pub(super) asked: u64,
}

/// Returns the images of the changed rows that matter. Returns a reason instead if the images are not known, if more than
/// `most` rows have changed, or if rows of several tables have.
///
/// The contribution of a changed row is found by a join with the other tables as they are now. So these other tables must be
/// the same in all states between the old one and the new one. Then the contributions of the images, each with its sign, add up
/// to the difference of the two sums.
pub(super) fn images<'c>(
    commits: &'c [Commit],
    plan: &'c GroupsPlan,
    dependencies: &Dependencies,
    most: usize,
) -> Found<ChangedImages<'c>> {
    let mut changed = ChangedImages::default();
    let mut only: Option<&GroupsSource> = None;
    for (Commit { summary, .. }, source) in commits
        .iter()
        .flat_map(|commit| plan.sources.iter().map(move |source| (commit, source)))
    {
        let Some(change) = summary.table(&source.table) else {
            continue;
        };
        let Rows::Only(rows) = &change.rows else {
            // Nobody asks for the rows of a table whose images are of no use.
            let is_told = source.images.is_some();
            return Err(if is_told {
                WhyWhole::UnknownChanges
            } else {
                WhyWhole::Undecided
            });
        };
        let readers = || {
            dependencies
                .tables
                .iter()
                .filter(|read| read.table == source.table)
        };
        let mut rows = rows
            .iter()
            .filter(|row| matters(row, change, readers()))
            .peekable();
        if rows.peek().is_none() {
            continue;
        }
        if only.is_some_and(|only| only.table != source.table) {
            return Err(WhyWhole::Undecided);
        }
        let over = source.images.as_ref().ok_or(WhyWhole::Undecided)?;
        (only, changed.over) = (Some(source), Some(over));
        let columns = &change.watched.images[..];
        let is_told = |column: &u16| columns.binary_search(column).is_ok();
        if !summary.is_exact() || !over.needed.iter().all(is_told) {
            return Err(WhyWhole::UnknownChanges);
        }
        for row in rows {
            changed.asked += 1;
            if changed.asked > most as u64 {
                return Err(WhyWhole::ManyChanges);
            }
            let both = row.before().into_iter().map(|image| (image, false));
            let both = both.chain(row.after().into_iter().map(|image| (image, true)));
            changed.images.extend(both.map(|(image, is_new)| GivenImage {
                image,
                columns,
                is_new,
            }));
        }
    }
    Ok(changed)
}
