//! Runs a scenario with one fault after another.

use std::{
    collections::BTreeMap,
    env, fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    str::FromStr,
    time::Instant,
};

use dice::Rng;
use resqlite_sqlite::fault_vfs::{self, Call, Failure, Plan, What};

use crate::{
    check::{Checked, check},
    resources,
    world::{Setting, Template, World},
};

/// Runs per scenario, which are the throws. 0: all that there are.
const RUNS: u64 = 150;
/// How many calls fail in a row, where it is not one and not all.
const A_WHILE: u64 = 4;
/// A fault that every scenario meets, however often it calls the device.
const OF_THE_FIRST_CALL: Plan = Plan {
    what: What::Everything,
    after: 0,
    times: 1,
};

/// Dry runs a scenario, then runs it with a sample of all faults. `RESQLITE_SEED` draws another sample;
/// `RESQLITE_FAULTS_PLAN` makes one run only, as a failure prints it.
pub fn sweep(name: &str, setting: Setting, scenario: impl Fn(&World)) {
    sweep_these(name, setting, |calls| chosen(all_plans(calls)), scenario);
}

/// The same with each call that fails once, whatever it is: for what one place in a short scenario decides.
pub fn sweep_each_call(name: &str, setting: Setting, scenario: impl Fn(&World)) {
    let each = |calls: &BTreeMap<Call, u64>| plans_of(What::Everything, 1, calls.values().sum()).collect();
    sweep_these(name, setting, each, scenario);
}

fn sweep_these(
    name: &str,
    setting: Setting,
    plans: impl FnOnce(&BTreeMap<Call, u64>) -> Vec<Plan>,
    scenario: impl Fn(&World),
) {
    fault_vfs::install().expect("SQLite works");
    let began = Instant::now();
    let template = Template::make(setting);
    let test = std::thread::current();
    let test = test.name().unwrap_or(name);
    let run = |plan: Option<Plan>| {
        let _using = resources::using_engines();
        let told = plan.map_or_else(|| "no fault".to_owned(), |plan| Shown(plan).to_string());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            one_run(&template, setting, &format!("{name} {told}"), plan, &scenario)
        }));
        let ran = caught.unwrap_or_else(|_| Err("a panic".into()));
        ran.unwrap_or_else(|wrong| {
            panic!("{name}, fault {told}: {wrong}\nagain: RESQLITE_FAULTS_PLAN={told} cargo test -p resqlite --test faults {test}")
        })
    };
    if let Ok(plan) = env::var("RESQLITE_FAULTS_PLAN") {
        let Shown(plan) = plan.parse().expect("a plan as it was printed");
        run(Some(plan));
        return;
    }
    let dry = run(None);
    assert_eq!(dry.failed, 0, "requests fail without a fault");
    assert!(
        run(Some(OF_THE_FIRST_CALL)).injected > 0,
        "the fault harms nobody"
    );
    let plans = plans(&dry.calls);
    let (mut injected, mut failed) = (0, 0);
    for plan in &plans {
        let ran = run(Some(*plan));
        injected += ran.injected;
        failed += usize::from(ran.failed > dry.failed);
    }
    resources::no_thread_is_left(name);
    let (calls, runs) = (dry.calls.values().sum::<u64>(), plans.len());
    let rate = runs as f64 / began.elapsed().as_secs_f64();
    println!(
        "{name}: {calls} calls, {runs} runs, {injected} faults, {failed} runs with errors, {rate:.0} per second"
    );
}

struct Ran {
    calls: BTreeMap<Call, u64>,
    injected: u64,
    failed: usize,
}

fn one_run(
    template: &Template,
    setting: Setting,
    name: &str,
    plan: Option<Plan>,
    scenario: &impl Fn(&World),
) -> Result<Ran, String> {
    let world = World::new(template, setting, name);
    let before = world.tap.calls();
    plan.into_iter().for_each(|plan| world.tap.inject(plan));
    scenario(&world);
    let injected = world.tap.heal();
    let mut calls = world.tap.calls();
    for (call, count) in &mut calls {
        *count -= before.get(call).unwrap_or(&0);
    }
    let failed = world.failed.get();
    let checked: Checked = check(&world);
    checked.map(|()| Ran {
        calls,
        injected,
        failed,
    })
}

/// Every call with every way in which it can fail: once, for a while, for good; and the device gone from each call on.
fn all_plans(calls: &BTreeMap<Call, u64>) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (&call, &count) in calls {
        for &failure in call.failures() {
            // SQLite waits for locks for up to ten seconds; who never lets go is another test's matter.
            let is_busy = matches!(failure, Failure::Refused(code) if code == resqlite_sqlite::codes::BUSY);
            let times: &[u64] = if is_busy {
                &[1, A_WHILE]
            } else {
                &[1, A_WHILE, u64::MAX]
            };
            for &times in times {
                let what = What::One(call, failure);
                plans.extend(plans_of(what, times, count));
            }
        }
    }
    let what = What::Everything;
    for times in [1, A_WHILE, u64::MAX] {
        plans.extend(plans_of(what, times, calls.values().sum()));
    }
    plans
}

/// A plan for each of so many calls.
fn plans_of(what: What, times: u64, calls: u64) -> impl Iterator<Item = Plan> {
    (0..calls).map(move |after| Plan { what, after, times })
}

/// As many as there is time for. Rare calls count as much as frequent ones.
fn chosen(mut plans: Vec<Plan>) -> Vec<Plan> {
    let runs = dice::throws(RUNS) as usize;
    if runs == 0 || plans.len() <= runs {
        return plans;
    }
    let mut rng = Rng(dice::first_seed());
    let mut by_kind: BTreeMap<String, Vec<Plan>> = BTreeMap::new();
    while let Some(plan) = plans.pop() {
        by_kind.entry(format!("{:?}", plan.what)).or_default().push(plan);
    }
    let mut kinds: Vec<_> = by_kind.into_values().collect();
    let mut chosen = Vec::new();
    while chosen.len() < runs {
        let kind = rng.below(kinds.len());
        let at = rng.below(kinds[kind].len());
        chosen.push(kinds[kind].swap_remove(at));
        kinds.retain(|kind| !kind.is_empty());
    }
    chosen
}

/// A plan as text: `Write:1:7:4` is the second way in which a write fails, after 7 writes, 4 times.
struct Shown(Plan);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { what, after, times } = self.0;
        match what {
            What::Everything => write!(f, "Everything:0")?,
            What::One(call, failure) => {
                let way = call.failures().iter().position(|way| *way == failure);
                write!(f, "{call:?}:{}", way.expect("a way in which it fails"))?;
            }
        }
        write!(f, ":{after}:{times}")
    }
}

impl FromStr for Shown {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<_> = text.split(':').collect();
        let [what, way, after, times] = parts[..] else {
            return Err(format!("{text:?} has not four parts"));
        };
        let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is no number"));
        let call = Call::ALL.into_iter().find(|call| format!("{call:?}") == what);
        let what = match call {
            None if what == "Everything" => What::Everything,
            None => return Err(format!("{what:?} is no call")),
            Some(call) => What::One(call, call.failures()[number(way)? as usize]),
        };
        Ok(Self(Plan {
            what,
            after: number(after)?,
            times: number(times)?,
        }))
    }
}
