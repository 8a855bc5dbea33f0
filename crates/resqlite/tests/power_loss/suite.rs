//! Runs workloads and cuts the power at many of their moments.

use std::{
    collections::HashSet,
    hash::{Hash, Hasher},
    path::Path,
    time::Instant,
};

use dice::Rng;
use rapidhash::quality::RapidHasher;
use resqlite_sqlite::fault_vfs::{self, Event};
use tempfile::TempDir;

use crate::{
    disk::{Disk, Files, Loss},
    judge::judge,
    workload::{Promise, Recorded, run},
};

/// States of one run of a test.
const STATES: u64 = 1800;
/// States that are made from one workload.
const PER_WORKLOAD: u64 = 400;
/// Every so many are opened by the engine.
const BY_ENGINE: u64 = 25;

// G195
#[test]
fn what_is_acknowledged_with_full_durability_survives() {
    cut(Promise::Full);
}

// G196
#[test]
fn with_normal_durability_a_prefix_of_the_commits_survives() {
    cut(Promise::Normal);
}

// G195
#[test]
fn a_write_of_full_durability_takes_all_before_it_with_it() {
    cut(Promise::Mixed);
}

// G197
#[test]
fn what_was_refused_is_never_there_once_something_later_is_on_disk() {
    cut(Promise::Failing);
}

// G195
#[test]
fn a_sync_that_fails_and_forgets_loses_nothing_of_full_durability() {
    cut(Promise::FailingFull);
}

fn temp_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        TempDir::new_in(memory)
    } else {
        TempDir::new()
    };
    folder.expect("a temporary folder")
}

/// What came of the states.
#[derive(Default)]
struct Counts {
    states: u64,
    events: usize,
    /// States that lacked something which was there before the power cut.
    lacking: u64,
    refused: usize,
    /// States with writes that were refused.
    back: u64,
}

/// A throw is a state.
fn cut(promise: Promise) {
    fault_vfs::install().expect("SQLite works");
    let began = Instant::now();
    let test = std::thread::current();
    let test = test.name().unwrap_or_default();
    let (states, first) = (dice::throws(STATES), dice::first_seed());
    let one_of = match dice::is_single() {
        true => 1,
        false => PER_WORKLOAD / states.clamp(1, PER_WORKLOAD),
    };
    let mut counts = Counts::default();
    let mut seed = first;
    while counts.states < states {
        if let Err(wrong) = cut_one(seed, promise, one_of, &mut counts) {
            panic!(
                "{wrong}\nagain: RESQLITE_SEED={seed} RESQLITE_THROWS=1 cargo test -p resqlite --test power_loss {test}"
            );
        }
        seed += 1;
    }
    let rate = counts.states as f64 / began.elapsed().as_secs_f64();
    println!(
        "{promise:?}: {} states of {} workloads with {} events, {} writes refused, {} states lacking \
         something, {} with refused writes, {rate:.0} per second",
        counts.states,
        seed - first,
        counts.events,
        counts.refused,
        counts.lacking,
        counts.back,
    );
    // A power cut harms whoever was promised less, or it is none.
    let harms = promise.is_full() || counts.lacking > states / 20;
    assert!(!dice::throws_all() || harms, "the power cuts harm nobody");
    let fails = counts.refused > 0;
    assert!(
        !dice::throws_all() || fails == promise.disk_fails(),
        "the wrong disk fails"
    );
}

/// Judges one of so many states of a workload. They are drawn all the same, so that a seed repeats them.
fn cut_one(seed: u64, promise: Promise, one_of: u64, counts: &mut Counts) -> Result<(), String> {
    let (disk, after) = (temp_folder(), temp_folder());
    let Recorded { events, told } = run(disk.path(), seed, promise);
    counts.events += events.len();
    counts.refused += told.iter().filter(|write| write.commit.is_none()).count();
    let mut rng = Rng(seed);
    let mut seen = HashSet::new();
    let mut now = Disk::new(promise == Promise::FailingFull);
    for position in 0..=events.len() {
        for _ in 0..cuts_at(&events, position, &mut rng) {
            let (loss, sector) = (Loss::draw(&mut rng), *rng.pick(&[512, 4096]));
            let files = now.after_power_cut(loss, sector, &mut rng);
            let digest = digest(&files);
            if !seen.insert(digest) || !digest.is_multiple_of(one_of) {
                continue;
            }
            let by_engine = counts.states.is_multiple_of(BY_ENGINE);
            let judged = judge(after.path(), &files, &told, position, by_engine);
            let (present, back) = judged.map_err(|wrong| {
                format!(
                    "a power cut after {position} events that lost {loss:?} in sectors of {sector}: {wrong}"
                )
            })?;
            counts.states += 1;
            counts.back += u64::from(back > 0);
            let before = told
                .iter()
                .filter(|write| write.commit.is_some() && write.position <= position);
            counts.lacking += u64::from(before.count() > present);
        }
        events
            .get(position)
            .into_iter()
            .for_each(|event| now.follow(event, &mut rng));
    }
    Ok(())
}

/// How many power cuts to look at before the event at `position`: more where something is about to last, or has just
/// come to.
fn cuts_at(events: &[Event], position: usize, rng: &mut Rng) -> usize {
    let is_change = |at: usize| matches!(events.get(at), Some(Event::Write { .. }));
    if !is_change(position) || position > 0 && !is_change(position - 1) {
        return rng.between(1, 3);
    }
    usize::from(rng.below(events.len()) < PER_WORKLOAD as usize)
}

fn digest(files: &Files) -> u64 {
    let mut hasher = RapidHasher::default();
    files.hash(&mut hasher);
    hasher.finish()
}
