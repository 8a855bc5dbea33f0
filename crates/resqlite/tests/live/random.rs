//! The suite: scripts that failed once, then new ones.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use resqlite::live::Maintenance;

use crate::{
    generate::{Size, failing_script, groups_script, maintained_script, script},
    runner::{Counts, run},
    script::Script,
    shrink::shrink,
    streams::Failure,
};

const SIZE: Size = Size {
    steps: 60,
    streams: 8,
};
/// Commits of one run of the suite, about.
const COMMITS: u64 = 6_000;
const FAILING_SIZE: Size = Size {
    steps: 60,
    streams: 2,
};
const FAILING_COMMITS: u64 = 3_000;
const MAINTAINED_SIZE: Size = Size {
    steps: 120,
    streams: 8,
};
/// More than 20,000 steps of maintenance.
const MAINTAINED_COMMITS: u64 = 11_000;
const GROUPS_COMMITS: u64 = 6_000;
/// After so many commits a long run tells how far it is.
const PROGRESS: u64 = 50_000;
/// Runs of a script that fails only sometimes.
const ATTEMPTS: usize = 3;

fn regressions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/regressions")
}

/// Half of the scripts let the engine audit every commit, which mends what it missed; the other half are left alone.
fn audit_share(seed: u64) -> f64 {
    if seed.is_multiple_of(2) { 1.0 } else { 0.0 }
}

/// Results are always maintained where that is possible; `RESQLITE_LIVE_MAINTENANCE` says otherwise.
fn maintenance() -> Maintenance {
    match env::var("RESQLITE_LIVE_MAINTENANCE").as_deref() {
        Ok("never") => Maintenance::Never,
        Ok("where quicker") => Maintenance::WhereQuicker,
        Ok(other) => panic!("no such maintenance: {other}"),
        Err(_) => Maintenance::Always,
    }
}

fn fails(script: &Script, verify: f64, attempts: usize) -> Option<Failure> {
    (0..attempts).find_map(|_| run(script, verify, maintenance()).err())
}

/// Prints the shortest script that fails as this one does, and fails. `commits`: those that went well before.
fn report(seed: u64, commits: u64, script: &Script, failure: &Failure, verify: f64) -> ! {
    println!("seed {seed} after {commits} commits: {}", failure.what);
    let short = if failure.hangs || env::var_os("RESQLITE_LIVE_NO_SHRINK").is_some() {
        script.clone()
    } else {
        shrink(script, &mut |script| {
            fails(script, verify, ATTEMPTS).is_some_and(|failure| !failure.hangs)
        })
    };
    let failure = fails(&short, verify, ATTEMPTS).unwrap_or_else(|| failure.clone());
    println!("{short}\n{}", failure.what);
    if env::var_os("RESQLITE_LIVE_KEEP").is_some() {
        let path = regressions().join(format!("seed-{seed}.txt"));
        fs::write(&path, short.to_string()).expect("the script can be written");
        println!("written to {}", path.display());
    }
    panic!("seed {seed}: {}", failure.what);
}

fn progress(first: u64, next: u64, counts: &Counts, time: Duration) -> String {
    let rate = counts.commits as f64 / time.as_secs_f64();
    format!(
        "seeds {first} to before {next}, {} commits, {rate:.0} per second",
        counts.commits
    )
}

// G105, G136, G140, G142, G143
#[test]
fn scripts_that_failed_once_do_not_fail_again() {
    let mut paths: Vec<PathBuf> = fs::read_dir(regressions())
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    let attempts = if dice::throws_all() { ATTEMPTS } else { 1 };
    let mut failures = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("the script can be read");
        let script: Script = text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for verify in [0.0, 1.0] {
            if let Some(failure) = fails(&script, verify, attempts) {
                failures.push(format!("{}: {}", path.display(), failure.what));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Runs scripts until so many commits were made, which are the throws. A single one is printed, too.
/// Gives what they came to, if all dice were thrown.
fn run_many(make: fn(u64, Size) -> Script, size: Size, commits: u64) -> Option<Counts> {
    let began = Instant::now();
    let mut counts = Counts::default();
    let (commits, first) = (dice::throws(commits), dice::first_seed());
    let mut seed = first;
    while counts.commits < commits {
        let (script, verify) = (make(seed, size), audit_share(seed));
        let before = counts.commits;
        if dice::is_single() {
            println!("{script}");
        }
        match run(&script, verify, maintenance()) {
            Ok(more) => counts.add(more),
            Err(failure) => report(seed, counts.commits, &script, &failure, verify),
        }
        seed += 1;
        if counts.commits / PROGRESS > before / PROGRESS {
            println!("{}", progress(first, seed, &counts, began.elapsed()));
        }
    }
    println!("{}: {counts:?}", progress(first, seed, &counts, began.elapsed()));
    dice::throws_all().then_some(counts)
}

// G45, G105
#[test]
fn every_stream_shows_what_a_fresh_query_gives() {
    if let Some(counts) = run_many(script, SIZE, COMMITS) {
        assert!(counts.emissions > counts.commits / 20, "streams were told little");
        assert!(counts.skipped > counts.reruns / 4, "little was skipped");
        assert!(counts.audits > counts.commits / 20, "little was audited");
    }
}

/// The same with few streams and many statements that are meant to fail.
// G40, G45, G47, G50, G58
#[test]
fn every_statement_comes_to_what_plain_sqlite_makes_of_it_alone() {
    if let Some(counts) = run_many(failing_script, FAILING_SIZE, FAILING_COMMITS) {
        assert!(counts.failed > counts.statements / 10, "little failed");
    }
}

/// Tables that are joined, and writes that hit what streams show of them.
// G136, G140, G148, G150, G152
#[test]
fn a_maintained_result_is_what_a_fresh_query_gives() {
    if let Some(counts) = run_many(maintained_script, MAINTAINED_SIZE, MAINTAINED_COMMITS) {
        // On a machine that is busy, keeping a result is put off, and its re-runs are of the whole statement.
        assert!(
            counts.maintained > counts.commits / 2,
            "few results were maintained"
        );
        assert!(counts.emissions > counts.reruns / 4, "results changed little");
        assert!(counts.windows > counts.commits / 2, "few windows were compared");
    }
}

/// Tables of few values, so that groups come, change and vanish.
// G143, G149, G151, G152
#[test]
fn groups_that_are_maintained_are_those_of_a_fresh_query() {
    if let Some(counts) = run_many(groups_script, MAINTAINED_SIZE, GROUPS_COMMITS) {
        // Joins whose rows no index finds run as a whole, and so they do where two of their tables have changed.
        assert!(
            counts.maintained > counts.commits / 4,
            "few results were maintained"
        );
        assert!(counts.emissions > counts.reruns / 4, "results changed little");
    }
}
