//! Thousands of runs, each from its seed. `CLUSTER_SEEDS=1000000` runs more, `CLUSTER_SEED=7` only one.

use std::{ops::Range, panic};

use super::{history::Fate, world::World};
use crate::{core::codes, protocol::fault::PLANTED};

fn seeds(usually: u64) -> Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("CLUSTER_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CLUSTER_SEEDS").unwrap_or(usually),
    }
}

/// Runs one seed, and says which if it fails.
fn run(seed: u64, run: impl FnOnce(u64) -> World + panic::UnwindSafe) -> World {
    panic::catch_unwind(|| run(seed)).unwrap_or_else(|_| panic!("CLUSTER_SEED={seed} reproduces this"))
}

#[test]
fn what_is_acknowledged_stands_in_the_log_once_and_all_nodes_become_equal() {
    let (mut acknowledged, mut unknown, mut failed) = (0, 0, 0);
    for seed in seeds(800) {
        let world = run(seed, World::run);
        acknowledged += world.history.count(&Fate::Acknowledged);
        unknown += world.history.count(&Fate::Unknown);
        failed += world.history.count(&Fate::Failed(codes::NO_QUORUM));
    }
    println!("{acknowledged} acknowledged, {unknown} unknown, {failed} failed");
    assert!(
        acknowledged > 10 * (unknown + failed),
        "most writes are acknowledged"
    );
}

#[test]
fn nodes_stop_where_the_log_has_forgotten_what_they_have() {
    let mut stopped = 0;
    for seed in seeds(200) {
        let world = run(seed, World::run_with_fork);
        stopped += world.stopped(codes::LOG_DIVERGED);
        // A writer that has appended behind what the log forgot may go on, but nobody goes on with it.
        let running: Vec<_> = world.running().collect();
        let agree = |one: &&[u64], other: &&[u64]| one.starts_with(other) || other.starts_with(one);
        let all_agree = running
            .iter()
            .all(|one| running.iter().all(|other| agree(one, other)));
        assert!(all_agree, "CLUSTER_SEED={seed}: two nodes differ, and go on");
    }
    assert!(stopped > 0);
}

#[test]
fn planted_mistakes_are_found() {
    for fault in [
        "settle_forgets",
        "off_by_one",
        "applied_twice",
        "acknowledged_early",
        "stale_writer",
    ] {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| ()));
        PLANTED.set(fault);
        let found = (0..400).find(|&seed| panic::catch_unwind(|| World::run(seed)).is_err());
        PLANTED.set("");
        panic::set_hook(hook);
        println!("{fault}: seed {found:?}");
        assert!(found.is_some(), "{fault} is not found");
    }
}
