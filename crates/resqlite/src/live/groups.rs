//! Maintains the result of a statement that makes groups: a changed row takes back what it contributed to its group, and
//! adds what it contributes now.
//!
//! **The invariant** is that of [`maintain`](super::maintain): the kept groups are those of exactly one state. Here the
//! commit log must also be exact: a change that was undone, or that is told without its images, would be counted.

use std::{collections::HashMap, sync::Arc, time::Instant};

use resqlite_live::{
    Commit, Dependencies, Difference, Group, Groups, GroupsChange, KeptRow, KeptRows, KeptWindow, Rows,
    SourceKey, Value, fault::planted,
};

use super::{
    maintain::{is_of_values, matters},
    shown_rows::{RowsStep, ShownRows},
    statement_run::{KeptNow, New, StatementRun, Whole},
};
use crate::{
    commits::log::Commits,
    connection::{
        compare::{Before, TakeRows},
        engine_connection::EngineConnection,
        groups::{Grouped, ShownGroup, ShownImage},
        keep::Keep,
    },
    core::{error::Result, limits},
    dependencies::GroupsPlan,
    reader::ExactState,
    rows::{ColumnLayout, RowBatch},
};

/// The groups that are kept of the last result of a statement, and the rows that they made.
pub(super) struct KeptGroups {
    pub(super) plan: Arc<GroupsPlan>,
    groups: Groups,
    /// The rows of all groups.
    pub(super) shown: ShownRows,
    state: ExactState,
}

/// What changed rows change in groups.
pub(super) struct GroupsStep {
    groups: GroupsChange,
    pub(super) rows: RowsStep,
    /// How many rows have changed.
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

    /// The commits up to a later state; `None` if they are not known.
    fn commits(&self, commits: &Commits, later: &ExactState) -> Option<Vec<Commit>> {
        if !self.state.is_followed_by(later) {
            return None;
        }
        let between = commits.since(self.state.number).ok()?.into_iter();
        Some(
            between
                .take_while(|commit| commit.number <= later.number)
                .collect(),
        )
    }

    /// What changed rows change. Rows of the result that are new go to `take_rows`. Returns `None`, before any is handed
    /// over, if the result must be read as a whole.
    fn step(
        &self,
        connection: &mut EngineConnection,
        grouped: Grouped<'_>,
        images: &[ShownImage<'_>],
        take_rows: &mut TakeRows<'_>,
    ) -> Result<Option<(GroupsChange, RowsStep)>> {
        let (came, left) = connection.contributions(grouped, images)?;
        let Ok(change) = self.groups.plan(&came, &left) else {
            return Ok(None);
        };
        let changed: Vec<(usize, SourceKey)> = change
            .groups()
            .map(|(values, _)| (0, SourceKey::Columns(values.into())))
            .collect();
        let groups: Vec<ShownGroup<'_>> = change
            .groups()
            .filter_map(|(values, group)| Some((values, group?)))
            .collect();
        let now = match &groups[..] {
            [] => Vec::new(),
            groups => connection.rows_of_groups(grouped, groups)?,
        };
        let Some(rows) = self.shown.plan(&changed, now) else {
            return Ok(None);
        };
        // One that comes into sight may be of a group that has not changed.
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
        let new: Vec<ShownGroup<'_>> = rows.new_rows().filter_map(group).collect();
        let is_complete =
            new.is_empty() || connection.hand_over_groups(grouped, &new, rows.new_rows(), take_rows)?;
        Ok(is_complete.then_some((change, rows)))
    }
}

/// A result that was made of all groups, if it is another one, and the groups, if they are kept.
type FromGroups = (Option<Difference>, Option<Box<KeptGroups>>);

/// The images of the changed rows that matter, and how many rows these are; `None` if they are not known, or more than
/// `most`.
fn images<'c>(
    commits: &'c [Commit],
    plan: &GroupsPlan,
    dependencies: &Dependencies,
    most: usize,
) -> Option<(Vec<ShownImage<'c>>, u64)> {
    let (mut images, mut asked) = (Vec::new(), 0);
    for Commit { summary, .. } in commits {
        let Some(change) = summary.table(&plan.table) else {
            continue;
        };
        let Rows::Only(rows) = &change.rows else {
            return None;
        };
        let columns = &change.watched.images[..];
        let is_told = |column: &u16| columns.binary_search(column).is_ok();
        let is_exact = summary.is_exact() || planted("groups_of_undone_changes");
        if !is_exact || !plan.needed.iter().all(is_told) {
            return None;
        }
        let readers = || dependencies.tables.iter().filter(|read| read.table == plan.table);
        for row in rows.iter().filter(|row| matters(row, change, readers())) {
            asked += 1;
            if asked > most {
                return None;
            }
            let old = row
                .old
                .as_ref()
                .filter(|_| !planted("groups_old_image_forgotten"));
            let both = old.map(|image| (image, false)).into_iter();
            let both = both.chain(row.new.as_ref().map(|image| (image, true)));
            images.extend(both.map(|(image, is_new)| ShownImage {
                image,
                columns,
                is_new,
            }));
        }
    }
    Some((images, asked as u64))
}

impl<'r> StatementRun<'r> {
    pub(super) fn groups(
        &mut self,
        plan: &Arc<GroupsPlan>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, New)> {
        match self.step_of_groups(plan, take_rows)? {
            Some(step) => Ok(step),
            None => self.whole_groups(plan, take_rows),
        }
    }

    /// Looks only at changed rows, if that is possible and quicker.
    fn step_of_groups(
        &mut self,
        plan: &Arc<GroupsPlan>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<Option<(Arc<ColumnLayout>, New)>> {
        let (Some(kept), Some(layout), Some(state)) = (&self.part.groups, &self.part.layout, self.exact)
        else {
            return Ok(None);
        };
        if self.is_audit || (!Arc::ptr_eq(&kept.plan, plan) && kept.plan != *plan) {
            return Ok(None);
        }
        let Some(commits) = kept.commits(&self.coordinator.commits, &state) else {
            return Ok(None);
        };
        let changed = images(&commits, plan, &self.part.dependencies, self.most_asked());
        let Some((images, asked)) = changed else {
            return Ok(None);
        };
        let grouped = self.grouped(plan, layout);
        match kept.step(self.connection, grouped, &images, take_rows) {
            // One that the whole statement may not have: for a row that is gone.
            Err(error) if is_of_values(&error) => Ok(None),
            Err(error) => Err(error),
            Ok(None) => Ok(None),
            Ok(Some((groups, rows))) => {
                let step = GroupsStep { groups, rows, asked };
                Ok(Some((Arc::clone(layout), New::Groups(step, state))))
            }
        }
    }

    /// Runs the whole statement, and keeps its groups if that is worth it.
    fn whole_groups(
        &mut self,
        plan: &Arc<GroupsPlan>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, New)> {
        let fingerprints = self.part.fingerprints();
        let before = Before {
            layout: self.part.layout.as_ref(),
            fingerprints: &fingerprints,
            seed: self.coordinator.seed,
        };
        let mut began = Instant::now();
        let (mut kept, state) = (KeptNow::No, self.exact.filter(|_| self.keeps()));
        // Only the statement itself has the names of its columns, so it must have run.
        if let (Some(state), Some(layout), None) = (state, &self.part.layout, &plan.bounds) {
            if let Some((difference, groups)) = self.keep_groups(plan, layout, &before, state, take_rows)? {
                let whole = Whole {
                    difference,
                    kept: groups.map_or(KeptNow::Unfit, KeptNow::Groups),
                    micros: began.elapsed().as_micros() as u64,
                };
                return Ok((Arc::clone(layout), New::Whole(whole)));
            }
            (kept, began) = (KeptNow::Unfit, Instant::now());
        }
        let (layout, difference) = self
            .connection
            .compare_groups(self.query, plan, &before, take_rows)?;
        let micros = began.elapsed().as_micros() as u64;
        if let (Some(state), Some(bounds)) = (state, &plan.bounds) {
            let shown = difference
                .as_ref()
                .map_or(&*fingerprints, |now| &now.fingerprints);
            let groups = self.keep_window(plan, bounds, &layout, shown, state)?;
            kept = groups.map_or(KeptNow::Unfit, KeptNow::Groups);
        }
        let whole = Whole {
            difference,
            kept,
            micros,
        };
        Ok((layout, New::Whole(whole)))
    }

    /// Reads all groups, and makes the result of them; `None`, before any row is handed over, if they cannot be kept.
    fn keep_groups(
        &mut self,
        plan: &Arc<GroupsPlan>,
        layout: &Arc<ColumnLayout>,
        before: &Before<'_>,
        state: ExactState,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<Option<FromGroups>> {
        let grouped = self.grouped(plan, layout);
        let Some(groups) = self.all_groups(grouped)? else {
            return Ok(None);
        };
        let shown: Vec<ShownGroup<'_>> = groups.iter().collect();
        let mut keep = Keep::Rows(Box::new(KeptRows::new(plan.order.clone())), limits::KEPT_BYTES);
        let mut handed_over = false;
        let mut take_rows = |layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>| {
            handed_over = true;
            take_rows(layout, batch)
        };
        let compared =
            self.connection
                .compare_and_keep_groups(grouped, &shown, before, &mut take_rows, &mut keep);
        let difference = match compared {
            Err(error) if is_of_values(&error) && !handed_over => return Ok(None),
            compared => compared?,
        };
        let kept = match keep {
            Keep::Rows(rows, _) => Some(Box::new(KeptGroups {
                plan: Arc::clone(plan),
                groups,
                shown: ShownRows::new(*rows, None),
                state,
            })),
            Keep::Nothing | Keep::Unfit => None,
        };
        Ok(Some((difference, kept)))
    }

    /// Reads all groups of a result with a LIMIT, in the state in which the statement has run. `shown`: the fingerprints of
    /// its result. `None` if they cannot be kept.
    fn keep_window(
        &mut self,
        plan: &Arc<GroupsPlan>,
        bounds: &Arc<str>,
        layout: &Arc<ColumnLayout>,
        shown: &[u64],
        state: ExactState,
    ) -> Result<Option<Box<KeptGroups>>> {
        let grouped = self.grouped(plan, layout);
        // A LIMIT that is no integer is left to SQLite.
        let Some(window) = self.connection.window(self.query, &plan.all, bounds)? else {
            return Ok(None);
        };
        let Some(groups) = self.all_groups(grouped)? else {
            return Ok(None);
        };
        let all: Vec<ShownGroup<'_>> = groups.iter().collect();
        let made = match self.connection.rows_of_groups(grouped, &all) {
            // Of a row that is not shown, perhaps.
            Err(error) if is_of_values(&error) => return Ok(None),
            made => made?,
        };
        let mut rows = KeptRows::new(plan.order.clone());
        if made.into_iter().try_for_each(|row| rows.append(row)).is_err() {
            return Ok(None);
        }
        let rows = ShownRows::new(rows, Some(KeptWindow::new(window, usize::MAX)));
        let is_right = rows.fingerprints() == shown;
        Ok(is_right.then(|| {
            Box::new(KeptGroups {
                plan: Arc::clone(plan),
                groups,
                shown: rows,
                state,
            })
        }))
    }

    /// The groups of all rows, if they can be kept.
    fn all_groups(&mut self, grouped: Grouped<'_>) -> Result<Option<Groups>> {
        match self.connection.groups(grouped, limits::KEPT_BYTES) {
            // The statement itself says so, if it does.
            Err(error) if is_of_values(&error) => Ok(None),
            groups => groups,
        }
    }

    fn grouped<'g>(&self, plan: &'g GroupsPlan, layout: &'g Arc<ColumnLayout>) -> Grouped<'g>
    where
        'r: 'g,
    {
        Grouped {
            query: self.query,
            plan,
            layout,
            seed: self.coordinator.seed,
        }
    }
}
