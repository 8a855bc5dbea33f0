//! A run of one statement of a live query, as a whole or only for the rows of changed base rows.

use std::{borrow::Cow, rc::Rc, sync::Arc, time::Duration};

use resqlite_live::{Commit, CommitNumber, Dependencies, Difference, KeptWindow, Segment};

use super::{
    coordinator::LiveCoordinator,
    groups::{GroupsStep, KeptGroups},
    live_query::Part,
    maintain::{Kept, Step, StepBounds, commits_between},
    request::Maintenance,
    shown_rows::ShownRows,
    why_whole::{Found, WhyWhole},
    window,
};
use crate::{
    connection::{
        compare::{Before, TakeRows},
        engine_connection::EngineConnection,
        keep::{Keep, Maintained},
    },
    core::{clock, error::Result, limits},
    maintain::{Limit, MaintenancePlan, RowsPlan, StatementDependencies},
    reader::ExactState,
    requests::request::Query,
    rows::ColumnLayout,
};

/// The findings of a run of a statement.
pub(super) struct PartResult {
    pub(super) layout: Arc<ColumnLayout>,
    pub(super) statement: Arc<StatementDependencies>,
    /// See [`Part::schema_version`].
    pub(super) schema_version: Option<i64>,
    /// The dependencies of the statement now, if they have changed.
    pub(super) dependencies: Option<Arc<Dependencies>>,
    pub(super) new: New,
    /// The time that it took to read what is kept, beside a whole run.
    pub(super) keeping: Duration,
}

/// The new result, compared with the last one.
pub(super) enum New {
    Whole(Whole),
    /// The changes of the result that come from changes of base rows up to this state.
    Step(Step, ExactState),
    /// The same changes, where base rows make groups.
    Groups(GroupsStep, ExactState),
}

/// A result that was read as a whole.
pub(super) struct Whole {
    /// `None` if it is the same as before.
    pub(super) difference: Option<Difference>,
    pub(super) kept: KeptNow,
    /// The duration of the whole run, in microseconds.
    pub(super) micros: u64,
    /// The reason why the whole statement ran, if the result can be maintained.
    pub(super) why: Option<WhyWhole>,
}

/// The rows of a whole result that are kept, or why none are.
pub(super) enum KeptNow {
    No,
    Yes(Box<Kept>),
    /// The rows are kept, and so are the groups that make them.
    Groups(Box<KeptGroups>),
    /// An audit has found no difference: what was kept stays.
    AsBefore,
    /// The rows are not kept, because reading them takes too long.
    TooSlow,
    /// The rows cannot be kept.
    Unfit,
}

impl New {
    /// The segments that make the result from the last one, if the two differ.
    pub(super) fn segments(&self) -> Option<&[Segment]> {
        match self {
            Self::Whole(whole) => whole
                .difference
                .as_ref()
                .map(|difference| &difference.segments[..]),
            Self::Step(step, _) => step.rows.segments(),
            Self::Groups(step, _) => step.rows.segments(),
        }
    }

    /// Returns why the result was read as a whole, although it can be maintained.
    pub(super) fn why_whole(&self) -> Option<WhyWhole> {
        match self {
            Self::Whole(whole) => whole.why,
            _ => None,
        }
    }

    /// Returns the number of base rows that were asked for; `None` if the result was read as a whole.
    pub(super) fn asked(&self) -> Option<u64> {
        match self {
            Self::Whole(_) => None,
            Self::Step(step, _) => Some(step.asked),
            Self::Groups(step, _) => Some(step.asked),
        }
    }
}

impl Part {
    /// Stops keeping rows or groups that have become too large.
    fn give_up_if_heavy(&mut self) {
        let is_heavy = |kept: &mut Box<Kept>| kept.shown.rows.weight() > limits::KEPT_BYTES;
        if let Some(kept) = self.kept.take_if(is_heavy) {
            self.fingerprints = kept.shown.fingerprints();
            self.is_unfit = true;
        }
        if let Some(groups) = self.groups.take_if(|groups| groups.weight() > limits::KEPT_BYTES) {
            self.fingerprints = groups.shown.fingerprints();
            self.is_unfit = true;
        }
    }

    /// Remembers a result; returns how many rows of it are new.
    pub(super) fn take(&mut self, new: New) -> u64 {
        match new {
            New::Step(step, state) => {
                let new_rows = step.rows.new_rows().count() as u64;
                self.step_was_quick();
                let kept = self.kept.as_mut().expect("a step begins with kept rows");
                kept.apply(step, state);
                self.give_up_if_heavy();
                new_rows
            }
            New::Groups(step, state) => {
                let new_rows = step.rows.new_rows().count() as u64;
                self.step_was_quick();
                let groups = self.groups.as_mut().expect("a step begins with kept groups");
                groups.apply(step, state);
                self.undecided.has_told();
                self.give_up_if_heavy();
                new_rows
            }
            New::Whole(Whole {
                difference,
                kept,
                micros,
                why,
            }) => {
                self.whole_micros = micros;
                self.spent_micros += micros;
                self.undecided.has_run_whole(why);
                match why {
                    Some(WhyWhole::SlowStep) => self.step_was_slow(),
                    Some(WhyWhole::ManyChanges) => self.step_was_not_tried(),
                    _ => {}
                }
                if matches!(kept, KeptNow::AsBefore) {
                    return 0;
                }
                let new_rows = difference.as_ref().map_or(0, Difference::new_rows);
                if let Cow::Owned(before) = self.fingerprints() {
                    self.fingerprints = before;
                    (self.kept, self.groups) = (None, None);
                }
                if let Some(difference) = difference {
                    self.fingerprints = difference.fingerprints;
                }
                match kept {
                    KeptNow::No | KeptNow::AsBefore => {}
                    KeptNow::TooSlow => self.put_off_keeping(),
                    KeptNow::Unfit => self.is_unfit = true,
                    KeptNow::Yes(kept) => {
                        self.fingerprints = Vec::new();
                        self.kept = Some(kept);
                    }
                    KeptNow::Groups(groups) => {
                        self.fingerprints = Vec::new();
                        self.groups = Some(groups);
                    }
                }
                self.give_up_if_heavy();
                new_rows
            }
        }
    }
}

/// Decides what becomes of rows that were read to be kept.
fn kept_rows(plan: &Arc<RowsPlan>, keep: Keep, window: Option<KeptWindow>, state: ExactState) -> KeptNow {
    match keep {
        Keep::Nothing => KeptNow::No,
        Keep::Unfit => KeptNow::Unfit,
        Keep::Rows(rows) => KeptNow::Yes(Box::new(Kept {
            plan: Arc::clone(plan),
            shown: ShownRows::new(*rows, window),
            state,
        })),
    }
}

/// A run of one statement.
pub(super) struct StatementRun<'a> {
    pub(super) coordinator: &'a LiveCoordinator,
    pub(super) connection: &'a mut EngineConnection,
    pub(super) maintenance: Maintenance,
    /// No commit affects the live query; its result should be the same.
    pub(super) is_audit: bool,
    pub(super) query: &'a Query,
    pub(super) part: &'a Part,
    /// The first commit that the last result may not show; 0 if that is not known.
    pub(super) owed: CommitNumber,
    /// The state that the run reads, if that state is known exactly.
    pub(super) exact: Option<ExactState>,
    /// See [`PartResult::keeping`].
    pub(super) keeping: Duration,
}

impl<'r> StatementRun<'r> {
    /// Runs the statement. `first`: the live query has had no result yet. New rows go to `take_rows`.
    pub(super) fn run(mut self, first: bool, take_rows: &mut TakeRows<'_>) -> Result<PartResult> {
        let schema_version = self.schema_version()?;
        let (layout, statement, mut new) = match self.plan(schema_version)? {
            Some((statement, plan)) => {
                let (layout, new) = match &plan {
                    MaintenancePlan::Rows(plan) => self.run_rows(plan, take_rows)?,
                    MaintenancePlan::Groups(plan) => {
                        let named = self.part.schema_version == schema_version;
                        self.run_groups(plan, named, take_rows)?
                    }
                };
                (layout, statement, new)
            }
            None => {
                let (began, fingerprints) = (clock::now(), self.part.fingerprints());
                let before = self.before(&fingerprints);
                let (layout, difference) = self.connection.compare(self.query, &before, take_rows)?;
                let micros = clock::since(began).as_micros() as u64;
                let statement = self.connection.dependencies(&self.query.sql)?;
                let whole = Whole {
                    difference,
                    kept: KeptNow::No,
                    micros,
                    why: None,
                };
                (layout, statement, New::Whole(whole))
            }
        };
        if let New::Whole(whole) = &mut new
            && first
        {
            whole.difference.get_or_insert_default();
            whole.why = None;
        }
        let dependencies = self.dependencies(&statement, &new)?;
        Ok(PartResult {
            layout,
            statement,
            schema_version,
            dependencies,
            new,
            keeping: self.keeping,
        })
    }

    /// The version of the main schema; `None` if the result is never maintained. A change of the schema may change whether the
    /// result can be maintained, and then also the order of rows that ORDER BY leaves equal.
    fn schema_version(&mut self) -> Result<Option<i64>> {
        if self.maintenance == Maintenance::Never {
            return Ok(None);
        }
        self.connection.internal("PRAGMA main.schema_version")
    }

    /// The statement and the plan by which its result is maintained, if it is.
    fn plan(
        &mut self,
        schema_version: Option<i64>,
    ) -> Result<Option<(Arc<StatementDependencies>, MaintenancePlan)>> {
        if schema_version.is_none() {
            return Ok(None);
        }
        // The main schema alone decides whether the result can be maintained.
        let statement = match &self.part.statement {
            Some(statement) if self.part.schema_version == schema_version => Arc::clone(statement),
            _ => self.connection.dependencies_before_run(&self.query.sql)?,
        };
        let plan = statement.maintenance().ok().cloned();
        Ok(plan.map(|plan| (statement, plan)))
    }

    fn run_rows(
        &mut self,
        plan: &Arc<RowsPlan>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, New)> {
        match self.step(plan, take_rows)? {
            Ok(step) => Ok(step),
            Err(why) => self.whole(plan, why, take_rows),
        }
    }

    /// Asks only for the rows of changed base rows, if that is possible and quicker.
    fn step(
        &mut self,
        plan: &Arc<RowsPlan>,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<Found<(Arc<ColumnLayout>, New)>> {
        let (Some(kept), Some(layout)) = (&self.part.kept, &self.part.layout) else {
            return Ok(Err(WhyWhole::NotKept));
        };
        let is_other = !Arc::ptr_eq(&kept.plan, plan) && kept.plan != *plan;
        let state = self.exact.filter(|_| !self.is_audit && !is_other);
        let Some(state) = state else {
            return Ok(Err(WhyWhole::UnknownChanges));
        };
        let (bounds, dependencies) = (self.step_bounds(), &self.part.dependencies);
        let Some(commits) = self.commits_since(&kept.state, &state) else {
            return Ok(Err(WhyWhole::UnknownChanges));
        };
        let changed = match kept.changed(&commits, dependencies, bounds.most) {
            Err(why) => return Ok(Err(why)),
            Ok(changed) => changed,
        };
        let maintained = self.maintained(plan);
        let found = kept.step(self.connection, maintained, layout, changed, bounds, take_rows)?;
        Ok(found.map(|step| (Arc::clone(layout), New::Step(step, state))))
    }

    /// Runs the whole statement, and keeps its rows if that is worth it.
    fn whole(
        &mut self,
        plan: &Arc<RowsPlan>,
        why: WhyWhole,
        take_rows: &mut TakeRows<'_>,
    ) -> Result<(Arc<ColumnLayout>, New)> {
        let state = self.exact.filter(|_| self.keeps());
        let mut keep = if state.is_some() && plan.limit.is_none() {
            Keep::rows(&plan.order)
        } else {
            Keep::Nothing
        };
        let (began, fingerprints) = (clock::now(), self.part.fingerprints());
        let (before, maintained) = (self.before(&fingerprints), self.maintained(plan));
        let (layout, difference) = self
            .connection
            .compare_and_keep(maintained, &before, take_rows, &mut keep)?;
        let run = clock::since(began);
        let micros = run.as_micros() as u64;
        let kept = match (state, &plan.limit) {
            (None, _) => KeptNow::No,
            (Some(state), None) => kept_rows(plan, keep, None, state),
            (Some(state), Some(limit)) => {
                let shown = difference
                    .as_ref()
                    .map_or(&*fingerprints, |now| &now.fingerprints);
                let kept = self.while_it_pays(micros, |run| run.keep_rows(plan, limit, shown, state))?;
                kept.unwrap_or(KeptNow::TooSlow)
            }
        };
        self.keeping = clock::since(began) - run;
        let whole = Whole {
            difference,
            kept,
            micros,
            why: self.told(why),
        };
        Ok((layout, New::Whole(whole)))
    }

    /// Reads the rows of a result with a LIMIT, and some behind them, in the state in which the statement has run. `shown`: the
    /// fingerprints of its result.
    fn keep_rows(
        &mut self,
        plan: &Arc<RowsPlan>,
        limit: &Limit,
        shown: &[u64],
        state: ExactState,
    ) -> Result<KeptNow> {
        let (maintained, slack) = (self.maintained(plan), self.slack());
        let (keep, window) = window::keep(self.connection, maintained, limit, slack, shown)?;
        Ok(kept_rows(plan, keep, window, state))
    }

    /// Returns `why`, but `None` for an audit, which always runs as a whole.
    pub(super) fn told(&self, why: WhyWhole) -> Option<WhyWhole> {
        (!self.is_audit).then_some(why)
    }

    /// The last result, which has these fingerprints.
    pub(super) fn before<'b>(&self, fingerprints: &'b [u64]) -> Before<'b>
    where
        'r: 'b,
    {
        Before {
            layout: self.part.layout.as_ref(),
            fingerprints,
            seed: self.coordinator.seed,
        }
    }

    fn maintained<'b>(&self, plan: &'b RowsPlan) -> Maintained<'b>
    where
        'r: 'b,
    {
        Maintained {
            query: self.query,
            plan,
            seed: self.coordinator.seed,
        }
    }

    /// The number of rows to keep behind a window.
    fn slack(&self) -> usize {
        let last = self.part.kept.as_ref();
        match last.and_then(|kept| kept.shown.next_slack()) {
            _ if self.is_always() => limits::WINDOW_SLACK_IN_TESTS,
            next => next.unwrap_or(limits::WINDOW_SLACK),
        }
    }

    /// Returns whether the result is kept, provided that its state is known.
    pub(super) fn keeps(&self) -> bool {
        !self.part.is_unfit && (self.part.pays_to_keep() || self.is_always())
    }

    /// Reads what is to be kept; `None` if that takes too long to be worth it, or longer than a quick query may take by itself.
    /// `micros`: the duration of a whole run.
    pub(super) fn while_it_pays<R>(
        &mut self,
        micros: u64,
        read: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<Option<R>> {
        if self.is_always() {
            return read(self).map(Some);
        }
        let limit = Duration::from_micros(micros * limits::KEEPING_RUNS).max(limits::KEEPING_LEAST);
        let interrupt = Rc::clone(&self.connection.guard.interrupt);
        interrupt.until(interrupt.end_of_extra(limit), || read(self))
    }

    /// The bounds beyond which the whole statement runs quicker.
    pub(super) fn step_bounds(&self) -> StepBounds {
        if self.is_always() {
            StepBounds::NONE
        } else {
            self.part.step_bounds()
        }
    }

    /// The commits that may affect the result and lead from one state to a later one; `None` if they are not known.
    pub(super) fn commits_since(&self, state: &ExactState, later: &ExactState) -> Option<Vec<Commit>> {
        commits_between(&self.coordinator.commits, state, later, self.owed)
    }

    pub(super) fn is_always(&self) -> bool {
        self.maintenance == Maintenance::Always
    }

    /// The dependencies of the query now, if they have changed.
    fn dependencies(
        &mut self,
        statement: &Arc<StatementDependencies>,
        new: &New,
    ) -> Result<Option<Arc<Dependencies>>> {
        let (part, known) = (self.part, self.part.statement.as_ref());
        let is_known = known.is_some_and(|known| Arc::ptr_eq(known, statement) || **known == **statement);
        let images = match new {
            New::Whole(Whole {
                kept: KeptNow::Yes(kept),
                ..
            }) => kept.plan.needed_images(),
            New::Whole(Whole {
                kept: KeptNow::Groups(groups),
                ..
            }) => groups.plan.needed_images(),
            // Nobody looks at the images.
            New::Whole(Whole {
                kept: KeptNow::TooSlow | KeptNow::Unfit,
                ..
            }) => Box::default(),
            _ if part.is_unfit => Box::default(),
            _ => part.dependencies.images.clone(),
        };
        if is_known && images == part.dependencies.images {
            return Ok(None);
        }
        let resolved = self.connection.resolve(statement, self.query)?;
        Ok(Some(Arc::new(Dependencies { images, ..resolved })))
    }
}
