//! Runs scripts with streams.

use std::panic::{AssertUnwindSafe, catch_unwind};

use resqlite::live::Maintenance;

use crate::{
    contents::difference,
    oracle::{Expected, Oracle},
    script::{Script, Step},
    streams::{Failure, Streams, wait_for},
    world::{World, Wrote},
};

/// What a script came to, when every promise was kept.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub commits: u64,
    /// Steps whose outcome was compared with that of plain SQLite.
    pub statements: u64,
    /// Those of them that plain SQLite refused.
    pub failed: u64,
    pub emissions: u64,
    pub skipped: u64,
    pub skipped_by_key: u64,
    pub reruns: u64,
    pub maintained: u64,
    pub unchanged: u64,
    pub audits: u64,
    /// How often windows were compared with fresh queries.
    pub windows: u64,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.commits += other.commits;
        self.statements += other.statements;
        self.failed += other.failed;
        self.emissions += other.emissions;
        self.skipped += other.skipped;
        self.skipped_by_key += other.skipped_by_key;
        self.reruns += other.reruns;
        self.maintained += other.maintained;
        self.unchanged += other.unchanged;
        self.audits += other.audits;
        self.windows += other.windows;
    }
}

/// Runs a script. `verify`: the share of commits after which a query that they do not affect is audited.
///
/// # Errors
/// The first promise that was broken.
pub fn run(script: &Script, verify: f64, maintenance: Maintenance) -> Result<Counts, Failure> {
    let run = catch_unwind(AssertUnwindSafe(|| run_steps(script, verify, maintenance)));
    run.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Failure::new(format!("a panic: {}", text.unwrap_or_default())))
    })
}

/// What runs a script, and what is owed.
struct Run {
    world: World,
    streams: Streams,
    oracle: Oracle,
    /// What the writes must come to that are queued.
    owed: Vec<(Step, Expected)>,
    /// Plain SQLite takes the file for damaged, which is a mistake of its own: such a transaction can only be rolled back, and
    /// the engine may do so at once. The script ends there.
    is_lost: bool,
    /// Those that were judged.
    statements: u64,
    failed: u64,
}

fn run_steps(script: &Script, verify: f64, maintenance: Maintenance) -> Result<Counts, Failure> {
    let world = World::open(&script.setup).map_err(|error| Failure::new(error.to_string()))?;
    let mut run = Run {
        world,
        streams: Streams::new(verify, maintenance),
        oracle: Oracle::open(&script.setup),
        owed: Vec::new(),
        is_lost: false,
        statements: 0,
        failed: 0,
    };
    let outcome = script.steps.iter().try_for_each(|step| run.step(step));
    if outcome.as_ref().is_err_and(|failure| failure.hangs) {
        // Closing would hang, too.
        std::mem::forget(run);
        return outcome.map(|()| Counts::default());
    }
    let totals = run.world.db.diagnostics().streams.sums;
    let counts = Counts {
        commits: run.world.db.engine().last_commit().0,
        statements: run.statements,
        failed: run.failed,
        emissions: run.streams.emissions as u64,
        skipped: totals.skipped_by_table + totals.skipped_by_column + totals.skipped_by_key,
        skipped_by_key: totals.skipped_by_key,
        reruns: totals.reruns,
        maintained: totals.maintained,
        unchanged: totals.unchanged,
        audits: totals.audits,
        windows: run.streams.windows(),
    };
    drop(run.streams);
    run.world.close();
    outcome.map(|()| counts)
}

impl Run {
    fn step(&mut self, step: &Step) -> Result<(), Failure> {
        match step {
            _ if self.is_lost => {}
            Step::Subscribe { stream, queries } => self.streams.subscribe(&self.world, *stream, queries),
            Step::Unsubscribe(stream) => self.streams.unsubscribe(*stream)?,
            Step::Lag => self.streams.lag(),
            Step::Check => self.check()?,
            Step::Foreign(_) => self.foreign(step)?,
            step => self.write(step)?,
        }
        Ok(())
    }

    fn write(&mut self, step: &Step) -> Result<(), Failure> {
        let queued = matches!(step, Step::Queue(_)) && !self.oracle.holds_writer();
        let (expected, wrote) = (self.oracle.run(step), self.world.run(step));
        if queued {
            self.owed.push((step.clone(), expected));
            return Ok(());
        }
        self.judge(step, &expected, &wrote)
    }

    /// What is queued is done first, or who comes first would be left to chance.
    fn foreign(&mut self, step: &Step) -> Result<(), Failure> {
        self.check()?;
        let seen = |world: &World| world.db.diagnostics().streams.external_commits;
        let (before, commits) = (seen(&self.world), self.world.external_commits);
        self.write(step)?;
        if self.world.external_commits > commits && self.streams.listen() {
            wait_for("the foreign commit is noticed", || seen(&self.world) > before)?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Failure> {
        let wrote = self.world.settle();
        for ((step, expected), wrote) in std::mem::take(&mut self.owed).into_iter().zip(wrote) {
            self.judge(&step, &expected, &wrote)?;
        }
        Ok(())
    }

    fn judge(&mut self, step: &Step, expected: &Expected, wrote: &Wrote) -> Result<(), Failure> {
        self.statements += u64::from(!matches!(expected, Expected::Nothing));
        self.failed += u64::from(matches!(expected, Expected::Fails(_)));
        self.is_lost |= expected.is_damage();
        if expected.is_met(wrote) {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{step}\ncame to:   {wrote:?}\nshould be: {expected:?}"
        )))
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.settle()?;
        self.streams.check(&self.world)?;
        // Others do not see what a transaction has done so far, and after its end nobody does.
        if self.oracle.is_stuck() {
            return Ok(());
        }
        match difference(&self.world.contents(), &self.oracle.contents()) {
            Some(difference) => Err(Failure::new(difference)),
            None => Ok(()),
        }
    }
}
