//! Starts children, a few mutants each, and looks how they end.

use std::{
    env,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use crate::child::{self, DONE, SEEDS};

const MUTANTS: u64 = 250;
/// Of one child.
const EACH: u64 = 50;
/// A child that says nothing for so long hangs. Not a limit that a slow machine comes near.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Found {
    mutants: u64,
    /// Requests that were answered with data.
    answered: u64,
    problems: Vec<String>,
}

/// Runs the mutants of some seeds in one child. What ends a child ends with it its other mutants: they are started anew.
fn run(mut first: u64, mut count: u64, found: &mut Found) {
    while count > 0 {
        let (done, problem) = run_child(first, count, found);
        let Some(problem) = problem else { return };
        let seed = first + done;
        found.problems.push(format!("mutant {seed}: {problem}"));
        (first, count) = (seed + 1, count - done - 1);
    }
}

/// How many mutants the child was done with, and what ended it before its time.
fn run_child(first: u64, count: u64, found: &mut Found) -> (u64, Option<String>) {
    let program = env::current_exe().expect("this program has a name");
    let mut child = Command::new(program)
        .args([
            "--exact",
            "parent::damaged_files_are_answered_with_data_or_an_error",
            "--nocapture",
        ])
        .env(SEEDS, format!("{first}+{count}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child can be started");
    let (says, hears) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().expect("it is piped"));
    thread::spawn(move || {
        out.lines()
            .map_while(Result::ok)
            .try_for_each(|line| says.send(line))
    });
    let mut errors = child.stderr.take().expect("it is piped");
    let errors = thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.read_to_string(&mut text);
        text
    });
    let mut done = 0;
    let hangs = loop {
        match hears.recv_timeout(PATIENCE) {
            Ok(line) => {
                if let Some((_, answered)) = line.strip_prefix(DONE).and_then(|rest| rest.split_once(' ')) {
                    done += 1;
                    found.mutants += 1;
                    found.answered += answered.parse::<u64>().unwrap_or(0);
                }
            }
            Err(RecvTimeoutError::Timeout) => break true,
            Err(RecvTimeoutError::Disconnected) => break false,
        }
    };
    if hangs {
        child.kill().expect("it runs still");
    }
    let status = child.wait().expect("a child ends");
    let errors = errors.join().expect("reading never fails");
    let problem = match hangs {
        true => Some("it hangs".into()),
        false if done < count || !status.success() => Some(format!("{status}: {errors}")),
        false => None,
    };
    (done, problem)
}

// G200
#[test]
fn damaged_files_are_answered_with_data_or_an_error() {
    if let Ok(seeds) = env::var(SEEDS) {
        return child::run(&seeds);
    }
    let (mut found, began) = (Found::default(), Instant::now());
    let first = dice::first_seed();
    let end = first + dice::throws(MUTANTS);
    for seed in (first..end).step_by(EACH as usize) {
        run(seed, EACH.min(end - seed), &mut found);
    }
    assert!(
        !dice::throws_all() || found.answered > found.mutants,
        "hardly anything could be read"
    );
    let rate = found.mutants as f64 / began.elapsed().as_secs_f64();
    println!(
        "{} mutants, {rate:.0} per second, {} requests answered with data",
        found.mutants, found.answered
    );
    assert!(found.problems.is_empty(), "{}", found.problems.join("\n\n"));
}
