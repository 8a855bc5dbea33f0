//! Runs scripts with streams.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    script::{Script, Step},
    streams::{Failure, Streams},
    world::{World, Wrote},
};

/// What a script came to, when every promise was kept.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub commits: u64,
    pub emissions: u64,
    pub skipped: u64,
    pub skipped_by_key: u64,
    pub requeries: u64,
    pub unchanged: u64,
    pub verified: u64,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.commits += other.commits;
        self.emissions += other.emissions;
        self.skipped += other.skipped;
        self.skipped_by_key += other.skipped_by_key;
        self.requeries += other.requeries;
        self.unchanged += other.unchanged;
        self.verified += other.verified;
    }
}

/// Runs a script. `verify`: the share of skipped re-queries that the engine makes all the same.
///
/// # Errors
/// The first promise that was broken.
pub fn run(script: &Script, verify: f64) -> Result<Counts, Failure> {
    let run = catch_unwind(AssertUnwindSafe(|| run_steps(script, verify)));
    run.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Failure::new(format!("a panic: {}", text.unwrap_or_default())))
    })
}

fn run_steps(script: &Script, verify: f64) -> Result<Counts, Failure> {
    let mut world = World::open(&script.setup).map_err(|error| Failure::new(error.to_string()))?;
    let mut streams = Streams::new(verify);
    let mut outcome = Ok(());
    for step in &script.steps {
        outcome = run_step(&mut world, &mut streams, step);
        if outcome.is_err() {
            break;
        }
    }
    if outcome.as_ref().is_err_and(|failure| failure.hangs) {
        // Closing would hang, too.
        std::mem::forget((world, streams));
        return outcome.map(|()| Counts::default());
    }
    let totals = world.db.diagnostics().streams.sums;
    let counts = Counts {
        commits: world.db.engine().last_commit(),
        emissions: streams.emissions as u64,
        skipped: totals.skipped_by_table + totals.skipped_by_column + totals.skipped_by_key,
        skipped_by_key: totals.skipped_by_key,
        requeries: totals.requeries,
        unchanged: totals.unchanged,
        verified: totals.verified,
    };
    drop(streams);
    world.close();
    outcome.map(|()| counts)
}

fn run_step(world: &mut World, streams: &mut Streams, step: &Step) -> Result<(), Failure> {
    match step {
        Step::Subscribe { stream, queries } => streams.subscribe(world, *stream, queries),
        Step::Unsubscribe(stream) => streams.unsubscribe(*stream)?,
        Step::Lag => streams.lag(),
        Step::Check => {
            world.settle();
            streams.check(world)?;
        }
        step => {
            // Statements may fail; whether they do is looked at elsewhere.
            let _: Wrote = world.run(step);
        }
    }
    Ok(())
}
