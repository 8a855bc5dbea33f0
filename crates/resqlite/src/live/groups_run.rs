//! A run of a statement that makes groups.

use std::sync::Arc;

use resqlite_live::{Difference, Groups, KeptRows, KeptWindow};

use super::{
    groups::{KeptGroups, images},
    maintain::{if_it_has_values, is_of_values},
    shown_rows::ShownRows,
    statement_run::{KeptNow, New, StatementRun, Whole},
    why_whole::{Found, WhyWhole},
};
use crate::{
    connection::{
        compare::{Before, TakeRows},
        groups::{GivenGroup, Grouped},
        keep::Keep,
    },
    core::{clock, error::Result},
    maintain::GroupsPlan,
    reader::ExactState,
    rows::{ColumnLayout, RowBatch},
};

/// A result that was made from all groups: its difference, if it has changed, and whether the groups are kept. The error says
/// why the result was not made from them.
type FromGroups = std::result::Result<(Option<Difference>, KeptNow), KeptNow>;

impl<'r> StatementRun<'r> {
    /// `named`: the columns of the last result have the same names as those of this one.
    pub(super) fn run_groups(
        &mut self,
        plan: &Arc<GroupsPlan>,
        named: bool,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, New)> {
        match self.step_of_groups(plan, take_rows)? {
            Ok(step) => Ok(step),
            Err(why) => self.whole_groups(plan, why, named, take_rows),
        }
    }

    /// Looks only at changed rows, if that is possible and quicker.
    fn step_of_groups(
        &mut self,
        plan: &Arc<GroupsPlan>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<Found<(Arc<ColumnLayout>, New)>> {
        let (Some(kept), Some(layout)) = (&self.part.groups, &self.part.layout) else {
            return Ok(Err(WhyWhole::NotKept));
        };
        let is_other = !Arc::ptr_eq(&kept.plan, plan) && kept.plan != *plan;
        let state = self.exact.filter(|_| !self.is_audit && !is_other);
        let Some(state) = state else {
            return Ok(Err(WhyWhole::UnknownChanges));
        };
        let Some(commits) = self.commits_since(&kept.state, &state) else {
            return Ok(Err(WhyWhole::UnknownChanges));
        };
        let bounds = self.step_bounds();
        let changed = match images(&commits, plan, &self.part.dependencies, bounds.most) {
            Err(why) => return Ok(Err(why)),
            Ok(changed) => changed,
        };
        let grouped = self.grouped(plan, layout);
        let step = kept.step(self.connection, grouped, &changed, bounds, take_rows)?;
        Ok(step.map(|step| (Arc::clone(layout), New::Groups(step, state))))
    }

    /// Runs the whole statement, and keeps its groups if that is worth it.
    fn whole_groups(
        &mut self,
        plan: &Arc<GroupsPlan>,
        why: WhyWhole,
        named: bool,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, New)> {
        let fingerprints = self.part.fingerprints();
        let before = self.before(&fingerprints);
        let (started, mut began) = (clock::now(), clock::now());
        // An audit compares with what the statement itself returns.
        let keeps = self.keeps() && !self.is_audit && (self.part.undecided.may_keep(why) || self.is_always());
        let (mut kept, state) = (KeptNow::No, self.exact.filter(|_| keeps));
        // Only the statement itself has the names of its columns, so it must have run.
        let layout = self.part.layout.as_ref().filter(|_| named);
        if let (Some(state), Some(layout), None) = (state, layout, &plan.bounds) {
            match self.keep_groups(plan, layout, &before, state, take_rows)? {
                Ok((difference, kept)) => {
                    let whole = Whole {
                        difference,
                        kept,
                        micros: clock::since(began).as_micros() as u64,
                        why: self.told(why),
                    };
                    return Ok((Arc::clone(layout), New::Whole(whole)));
                }
                Err(why_not) => (kept, began) = (why_not, clock::now()),
            }
        }
        let (layout, difference) = self
            .connection
            .compare_groups(self.query, plan, &before, take_rows)?;
        let run = clock::since(began);
        let micros = run.as_micros() as u64;
        if let (Some(state), Some(bounds)) = (state, &plan.bounds) {
            let shown = difference
                .as_ref()
                .map_or(&*fingerprints, |now| &now.fingerprints);
            let groups =
                self.while_it_pays(micros, |run| run.keep_window(plan, bounds, &layout, shown, state))?;
            kept = groups.unwrap_or(KeptNow::TooSlow);
        }
        self.keeping = clock::since(started) - run;
        if self.is_audit && difference.is_none() {
            kept = KeptNow::AsBefore;
        }
        let whole = Whole {
            difference,
            kept,
            micros,
            why: self.told(why),
        };
        Ok((layout, New::Whole(whole)))
    }

    /// Reads all groups, and makes the result from them. If the groups are not kept, returns that before it hands over any row.
    fn keep_groups(
        &mut self,
        plan: &Arc<GroupsPlan>,
        layout: &Arc<ColumnLayout>,
        before: &Before<'_>,
        state: ExactState,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<FromGroups> {
        let grouped = self.grouped(plan, layout);
        let groups = self.while_it_pays(self.part.whole_micros, |run| run.all_groups(grouped))?;
        let groups = match groups {
            None => return Ok(Err(KeptNow::TooSlow)),
            Some(None) => return Ok(Err(KeptNow::Unfit)),
            Some(Some(groups)) => groups,
        };
        let given: Vec<GivenGroup<'_>> = groups.iter().collect();
        let mut keep = Keep::rows(&plan.order);
        let mut handed_over = false;
        let mut take_rows = |layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>| {
            handed_over = true;
            take_rows(layout, batch)
        };
        let compared =
            self.connection
                .compare_and_keep_groups(grouped, &given, before, &mut take_rows, &mut keep);
        let difference = match compared {
            Err(error) if is_of_values(&error) && !handed_over => return Ok(Err(KeptNow::Unfit)),
            compared => compared?,
        };
        let kept = match keep {
            Keep::Rows(rows) => KeptNow::Groups(Box::new(KeptGroups {
                plan: Arc::clone(plan),
                groups,
                shown: ShownRows::new(*rows, None),
                state,
            })),
            Keep::Nothing | Keep::Unfit => KeptNow::Unfit,
        };
        Ok(Ok((difference, kept)))
    }

    /// Reads all groups of a result with a LIMIT, in the state in which the statement has run. `shown`: the fingerprints of
    /// its result.
    fn keep_window(
        &mut self,
        plan: &Arc<GroupsPlan>,
        bounds: &Arc<str>,
        layout: &Arc<ColumnLayout>,
        shown: &[u64],
        state: ExactState,
    ) -> Result<KeptNow> {
        let grouped = self.grouped(plan, layout);
        // A LIMIT that is no integer is left to SQLite.
        let Some(window) = self.connection.window(self.query, &plan.all, bounds)? else {
            return Ok(KeptNow::Unfit);
        };
        let Some(groups) = self.all_groups(grouped)? else {
            return Ok(KeptNow::Unfit);
        };
        let all: Vec<GivenGroup<'_>> = groups.iter().collect();
        let Some(made) = if_it_has_values(self.connection.rows_of_groups(grouped, &all))? else {
            return Ok(KeptNow::Unfit);
        };
        let mut rows = KeptRows::new(plan.order.clone());
        if made.into_iter().try_for_each(|row| rows.append(row)).is_err() {
            return Ok(KeptNow::Unfit);
        }
        let rows = ShownRows::new(rows, Some(KeptWindow::new(window, usize::MAX)));
        if rows.fingerprints() != shown {
            return Ok(KeptNow::Unfit);
        }
        Ok(KeptNow::Groups(Box::new(KeptGroups {
            plan: Arc::clone(plan),
            groups,
            shown: rows,
            state,
        })))
    }

    /// Returns the groups of all rows, if they can be kept.
    fn all_groups(&mut self, grouped: Grouped<'_>) -> Result<Option<Groups>> {
        let groups = if_it_has_values(self.connection.groups(grouped))?;
        Ok(groups.flatten())
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
