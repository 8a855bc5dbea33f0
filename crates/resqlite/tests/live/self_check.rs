//! The generators, looked at: most of what they make must work, give rows and change rows, or the suite tests little.

use std::collections::BTreeMap;

use resqlite::Error;

use crate::{
    generate::{Size, groups_script, script},
    rows::same,
    script::{Script, Statement, Step},
    world::{World, Wrote},
};

#[derive(Default)]
struct Counts {
    writes: usize,
    writes_failed: usize,
    /// Of those that count rows.
    row_writes: usize,
    writes_with_rows: usize,
    new: usize,
    new_failed: usize,
    queries: usize,
    queries_failed: usize,
    queries_with_rows: usize,
    /// Results that differ from those of the same query before the latest writes.
    results: usize,
    results_changed: usize,
    failures: BTreeMap<String, usize>,
}

type Results = BTreeMap<usize, Vec<Option<resqlite::Rows>>>;

impl Counts {
    fn wrote(&mut self, step: &Step, wrote: Wrote) {
        match wrote {
            Wrote::Nothing => return,
            Wrote::Other => {}
            Wrote::Rows(done) => {
                self.row_writes += 1;
                self.writes_with_rows += usize::from(done.changes > 0);
            }
            Wrote::Failed(error) => {
                self.writes_failed += 1;
                self.failed(&error, &step.to_string());
            }
        }
        self.writes += 1;
    }

    fn failed(&mut self, error: &Error, what: &str) {
        assert!(is_ordinary(error), "{error:?}: {what}");
        if std::env::var_os("RESQLITE_LIVE_VERBOSE").is_some() {
            println!("{error}: {what}");
        }
        let message = error.to_string();
        let kind = message.split(':').next().unwrap_or_default().to_owned();
        *self
            .failures
            .entry(format!("{} {kind}", error.code()))
            .or_default() += 1;
    }

    fn queried(&mut self, world: &World, statement: &Statement) -> Option<resqlite::Rows> {
        let (first, second) = (world.select(statement), world.select(statement));
        self.queries += 1;
        match (first, second) {
            (Ok(first), Ok(second)) => {
                assert!(same(&first, &second), "two runs differ: {statement}");
                self.queries_with_rows += usize::from(!first.is_empty());
                Some(first)
            }
            (Err(error), Err(_)) => {
                self.queries_failed += 1;
                self.failed(&error, &statement.to_string());
                None
            }
            _ => panic!("one of two runs fails: {statement}"),
        }
    }

    /// Queries that are asked for the first time; later their tables may have gone.
    fn subscribed(&mut self, world: &World, queries: &[Statement]) {
        self.new += queries.len();
        let fails = |query: &&Statement| world.select(query).is_err();
        self.new_failed += queries.iter().filter(fails).count();
    }

    fn checked(&mut self, world: &World, open: &BTreeMap<usize, Vec<Statement>>, before: &mut Results) {
        for (stream, queries) in open {
            let now: Vec<_> = queries.iter().map(|query| self.queried(world, query)).collect();
            if let Some(before) = before.get(stream) {
                self.results += 1;
                let differs =
                    |(old, new): (&Option<resqlite::Rows>, &Option<resqlite::Rows>)| match (old, new) {
                        (Some(old), Some(new)) => !same(old, new),
                        (old, new) => old.is_some() != new.is_some(),
                    };
                self.results_changed += usize::from(before.iter().zip(&now).any(differs));
            }
            before.insert(*stream, now);
        }
    }

    fn share(part: usize, whole: usize) -> usize {
        100 * part / whole.max(1)
    }
}

/// Whether SQLite refuses the statement for what it would do, not for how it is written.
fn is_ordinary(error: &Error) -> bool {
    let message = error.to_string();
    let malformed = [
        "syntax error",
        "incomplete input",
        "unrecognized token",
        "ambiguous",
    ];
    let known = match error {
        Error::Sqlite(error) => !["SQLITE_CORRUPT", "SQLITE_MISUSE"]
            .iter()
            .any(|bad| error.name().starts_with(bad)),
        Error::Transaction { .. } => true,
        Error::Member { error, .. } => is_ordinary(error),
        _ => false,
    };
    known && !malformed.iter().any(|word| message.contains(word))
}

fn run(script: &Script, counts: &mut Counts) {
    let mut world = World::open(&script.setup).expect("the database opens");
    let mut open = BTreeMap::new();
    let mut before = Results::new();
    for step in &script.steps {
        match step {
            Step::Subscribe { stream, queries } => {
                counts.subscribed(&world, queries);
                open.insert(*stream, queries.clone());
            }
            Step::Unsubscribe(stream) => {
                open.remove(stream);
            }
            Step::Check => {
                for wrote in world.settle() {
                    counts.wrote(step, wrote);
                }
                counts.checked(&world, &open, &mut before);
            }
            step => {
                let wrote = world.run(step);
                counts.wrote(step, wrote);
            }
        }
    }
    world.close();
}

fn counts_of(make: fn(u64, Size) -> Script, seeds: u64) -> Counts {
    let mut counts = Counts::default();
    let size = Size {
        steps: 60,
        streams: 8,
    };
    for seed in 0..seeds {
        run(&make(seed, size), &mut counts);
    }
    let share = Counts::share;
    println!(
        "{} new queries, {} % failed; {} writes, {} % failed, {} % of {} changed rows; {} queries, {} % failed, {} % gave rows; {} % of {} results changed",
        counts.new,
        share(counts.new_failed, counts.new),
        counts.writes,
        share(counts.writes_failed, counts.writes),
        share(counts.writes_with_rows, counts.row_writes),
        counts.row_writes,
        counts.queries,
        share(counts.queries_failed, counts.queries),
        share(counts.queries_with_rows, counts.queries),
        share(counts.results_changed, counts.results),
        counts.results,
    );
    for (kind, count) in &counts.failures {
        println!("{count:6} {kind}");
    }
    counts
}

#[test]
fn most_generated_statements_work_and_matter() {
    let (counts, share) = (counts_of(script, 20), Counts::share);
    assert!(share(counts.writes_failed, counts.writes) < 15);
    assert!(share(counts.writes_with_rows, counts.row_writes) > 50);
    assert!(share(counts.new_failed, counts.new) < 5);
    assert!(share(counts.queries_with_rows, counts.queries) > 50);
    assert!(share(counts.results_changed, counts.results) > 5);
}

#[test]
fn most_queries_that_make_groups_work_and_change() {
    let (counts, share) = (counts_of(groups_script, 20), Counts::share);
    assert!(share(counts.writes_with_rows, counts.row_writes) > 50);
    assert!(share(counts.new_failed, counts.new) < 5);
    assert!(share(counts.queries_with_rows, counts.queries) > 50);
    assert!(share(counts.results_changed, counts.results) > 10);
}

#[test]
fn a_seed_gives_the_same_script_every_time() {
    let size = Size {
        steps: 80,
        streams: 8,
    };
    for seed in 0..50 {
        assert_eq!(script(seed, size), script(seed, size));
    }
}

#[test]
fn a_script_survives_being_written_and_read() {
    let size = Size {
        steps: 80,
        streams: 8,
    };
    for seed in 0..200 {
        let script = script(seed, size);
        let text = script.to_string();
        let read: Script = text.parse().expect("what is written can be read");
        assert_eq!(read.to_string(), text, "seed {seed}");
        // Infinities and negative zeros compare as they should; there is no NaN.
        assert_eq!(read, script, "seed {seed}");
    }
}
