//! Thousands of runs, each from its seed. A throw is a run; `CLUSTER_PLAN=7` makes only that of a seed. A run that fails is
//! shrunk; what is left, as `CLUSTER_PLAN="7 until 812 without 3 5-9"`, reproduces it.

use std::{cell::Cell, panic, sync::Once};

use super::{
    fault::PLANTED,
    history::Fate,
    plan::Plan,
    world::{Counts, World},
};
use crate::core::codes;

/// Runs that failed once.
const REGRESSIONS: [&str; 1] = ["25011 until 283 without 0-4 6 8-11 13 15 18-19 23-30 32"];

type Run = fn(&Plan) -> World;

fn plans(all: u64) -> Vec<Plan> {
    if let Ok(text) = std::env::var("CLUSTER_PLAN") {
        return vec![Plan::parse(&text).expect("CLUSTER_PLAN is a plan")];
    }
    let (first, seeds) = (dice::first_seed(), dice::throws(all));
    let regressions = REGRESSIONS.iter().filter_map(|text| Plan::parse(text));
    regressions
        .chain((first..first + seeds).map(Plan::whole))
        .collect()
}

/// Runs a plan; if it fails, says which part of it does.
fn run(plan: &Plan, run: Run) -> World {
    panic::catch_unwind(|| run(plan)).unwrap_or_else(|_| {
        let shrunk = quietly(|| shrink(plan, run));
        panic!("CLUSTER_PLAN=\"{shrunk}\" reproduces this, shrunk from {plan}")
    })
}

fn shrink(plan: &Plan, run: Run) -> Plan {
    plan.clone().shrink(|plan| fails(plan, run))
}

fn fails(plan: &Plan, run: Run) -> bool {
    panic::catch_unwind(|| drop(run(plan))).is_err()
}

thread_local! {
    /// Panics of this thread are expected.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Without the messages of panics of this thread. Other tests run beside it, and their messages stay.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                hook(panic);
            }
        }));
    });
    IS_QUIET.set(true);
    let done = work();
    IS_QUIET.set(false);
    done
}

// G321, G322, G331
#[test]
fn what_is_acknowledged_stands_in_the_log_once_and_all_nodes_become_equal() {
    let (mut acknowledged, mut unknown, mut failed, mut unchanged) = (0, 0, 0, 0);
    let mut counts = Vec::new();
    let plans = plans(800);
    for plan in &plans {
        let world = run(plan, World::run);
        acknowledged += world.history.count(&Fate::Acknowledged);
        unchanged += world.history.count(&Fate::ChangedNothing);
        unknown += world.history.count(&Fate::Unknown);
        failed += world.history.count(&Fate::Failed(codes::NO_QUORUM));
        counts.push(world.counts);
    }
    let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).sum::<u64>();
    let happened = [
        ("founded", sum(|counts| counts.founded)),
        ("refused", sum(|counts| counts.refused)),
        ("begun from snapshots", sum(|counts| counts.from_snapshots)),
        ("fell behind", sum(|counts| counts.fell_behind)),
        ("changed nothing", unchanged as u64),
        ("writers lost", sum(|counts| counts.lost_writers)),
    ];
    println!(
        "{acknowledged} acknowledged, {unchanged} changed nothing, {unknown} unknown, {failed} failed; {happened:?}"
    );
    if plans.len() > 1 && dice::throws_all() {
        assert!(
            acknowledged + unchanged > 10 * (unknown + failed),
            "most writes are answered"
        );
        let is_missing = happened.iter().find(|(_, count)| *count == 0);
        assert_eq!(is_missing, None, "everything happens");
    }
}

// G326
#[test]
fn nodes_stop_where_the_log_has_forgotten_what_they_have() {
    let plans = plans(200);
    let stopped: usize = plans
        .iter()
        .map(|plan| run(plan, World::run_with_fork).stopped(codes::LOG_DIVERGED))
        .sum();
    assert!(stopped > 0 || plans.len() == 1 || !dice::throws_all());
}

// G321, G331
#[test]
fn mistakes_of_the_model_are_found() {
    for mistake in ["applied_twice", "base_ignored"] {
        PLANTED.set(mistake);
        let found = quietly(|| (0..2000).find(|&seed| fails(&Plan::whole(seed), World::run)));
        PLANTED.set("");
        println!("{mistake}: seed {found:?}");
        assert!(found.is_some(), "{mistake} is not found");
    }
}

#[test]
fn a_run_that_fails_is_shrunk_to_few_steps() {
    PLANTED.set("applied_twice");
    let (found, shrunk) = quietly(|| {
        let seeds = (0..400).map(Plan::whole);
        let found = seeds.into_iter().find(|plan| fails(plan, World::run));
        let found = found.expect("the mistake is found");
        (found.clone(), shrink(&found, World::run))
    });
    let still_fails = quietly(|| fails(&shrunk, World::run));
    PLANTED.set("");
    println!("{shrunk}");
    assert!(still_fails, "{shrunk} fails");
    assert!(
        shrunk.until < found.until && shrunk.without.len() > 10,
        "{shrunk}"
    );
    assert_eq!(Plan::parse(&shrunk.to_string()), Some(shrunk));
}
