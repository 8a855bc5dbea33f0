//! The streams of a script, and what must hold of each when nothing is under way.

use std::{
    collections::{BTreeMap, HashMap},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use resqlite::{
    CommitId, Params,
    binding::{Engine, Integers},
    live::{LiveQueryRequest, Maintenance, MaintenanceExplanation, Subscription},
};

use pollster::block_on;

use crate::{
    listening::{Fold, Notes},
    script::Statement,
    text,
    world::World,
};

/// After this long without rest, something hangs. Not a limit that a slow machine comes near.
const PATIENCE: Duration = Duration::from_secs(60);

/// A broken promise.
#[derive(Debug, Clone)]
pub struct Failure {
    pub what: String,
    /// The engine does not come to rest, or does not answer.
    pub hangs: bool,
}

impl Failure {
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hangs: false,
        }
    }
}

struct Stream {
    queries: Vec<Statement>,
    maintenance: Maintenance,
    subscription: Subscription,
    notes: Notes,
    seen: Seen,
}

/// What was known of a stream at the last check.
struct Seen {
    emissions: usize,
    errors: usize,
    commit: CommitId,
}

/// A stream that was unsubscribed.
struct Gone {
    number: usize,
    notes: Notes,
    /// How many emissions and errors it had been told when it was unsubscribed.
    told: usize,
}

/// Streams that are open, and what is left of those that are not.
#[derive(Default)]
pub struct Streams {
    open: BTreeMap<usize, Stream>,
    gone: Vec<Gone>,
    lags: bool,
    /// Share of the skipped commits after which the engine looks by itself whether that was right.
    verify: f64,
    maintenance: Maintenance,
    orders: Orders,
    checks: usize,
    pub emissions: usize,
}

impl Streams {
    pub fn new(verify: f64, maintenance: Maintenance) -> Self {
        Self {
            verify,
            maintenance,
            ..Self::default()
        }
    }

    pub fn subscribe(&mut self, world: &World, stream: usize, queries: &[Statement]) {
        if self.open.contains_key(&stream) {
            return;
        }
        let notes = Notes::default();
        notes.lock().set_lag(self.lags);
        let request = LiveQueryRequest {
            queries: queries
                .iter()
                .map(|query| (query.sql.as_str().into(), Params::from(&query.params[..])))
                .collect(),
            integers: Integers::BigInt,
            verify: self.verify,
            maintenance: self.maintenance,
        };
        let engine = world.db.engine();
        let commit = engine.last_commit();
        let subscription = engine.subscribe(request, notes.listener(queries.len()));
        self.open.insert(
            stream,
            Stream {
                queries: queries.to_vec(),
                maintenance: self.maintenance,
                subscription,
                notes,
                seen: Seen {
                    emissions: 0,
                    errors: 0,
                    commit,
                },
            },
        );
    }

    pub fn unsubscribe(&mut self, stream: usize) -> Result<(), Failure> {
        let Some(gone) = self.open.remove(&stream) else {
            return Ok(());
        };
        gone.no_miss(stream)?;
        drop(gone.subscription);
        let told = {
            let told = gone.notes.lock();
            told.emissions + told.errors
        };
        self.gone.push(Gone {
            number: stream,
            notes: gone.notes,
            told,
        });
        Ok(())
    }

    /// Emissions are held back from now on; those that are on their way arrive.
    pub fn lag(&mut self) {
        self.lags = true;
        self.acknowledge();
    }

    fn acknowledge(&mut self) {
        for stream in self.open.values() {
            let waits = {
                let mut told = stream.notes.lock();
                told.set_lag(self.lags);
                std::mem::take(&mut told.unacknowledged)
            };
            if waits {
                stream.subscription.delivered();
            }
        }
    }

    /// Compares every stream with a fresh query, in turn when nothing is under way and when the stream has caught up.
    pub fn check(&mut self, world: &World) -> Result<(), Failure> {
        self.lags = false;
        self.acknowledge();
        // A database that came or went may be taken for a foreign commit at any time after it. Streams may or may not have
        // been told of one that comes from here on.
        let commit = world.db.engine().last_commit();
        self.checks += 1;
        if self.checks.is_multiple_of(2) {
            self.orders.follow(world);
            for (number, stream) in &self.open {
                stream.wait_until_caught_up(*number)?;
                stream.check_result(*number, world, &mut self.orders)?;
            }
        }
        wait_until_quiet(world.db.engine())?;
        self.orders.follow(world);
        for (number, stream) in &mut self.open {
            self.emissions += stream.check(*number, world, commit, &mut self.orders)?;
        }
        for gone in &self.gone {
            gone.check()?;
        }
        let foreign = world.db.diagnostics().streams.external_commits;
        // A database that comes or goes is looked at as if somebody else had written.
        if foreign > world.attachments + world.external_commits {
            return Err(Failure::new(format!(
                "{foreign} foreign commits were seen, {} there were",
                world.external_commits
            )));
        }
        Ok(())
    }

    /// How often windows were compared.
    pub fn windows(&self) -> u64 {
        self.orders.windows
    }

    /// Whether a stream is open that can be told of commits.
    pub fn listen(&self) -> bool {
        let listens = |stream: &Stream| !stream.notes.lock().ended;
        self.open.values().any(listens)
    }
}

impl Gone {
    /// Only a call that was under way may have come to its end.
    fn check(&self) -> Result<(), Failure> {
        let told = self.notes.lock();
        let late = told.emissions + told.errors - self.told;
        if late <= 1 {
            return Ok(());
        }
        let number = self.number;
        Err(Failure::new(format!(
            "stream {number} was told {late} things after its end"
        )))
    }
}

/// Blocks until no stream runs, is due or has something to deliver.
pub fn wait_until_quiet(engine: &Engine) -> Result<(), Failure> {
    let hangs = || format!("streams do not come to rest: {:?}", engine.diagnostics().streams);
    wait_until_called(|done| engine.when_quiet(done), hangs)
}

/// Blocks until the engine calls back. `hangs`: what to say if it does not.
fn wait_until_called(
    ask: impl FnOnce(Box<dyn FnOnce() + Send>),
    hangs: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let (tell, hear) = mpsc::channel();
    ask(Box::new(move || {
        // Nobody listens any more when the patience was over.
        let _ = tell.send(());
    }));
    hear.recv_timeout(PATIENCE).map_err(|_| Failure {
        what: hangs(),
        hangs: true,
    })
}

/// Blocks until something holds that another thread brings about.
pub fn wait_for(what: &str, holds: impl Fn() -> bool) -> Result<(), Failure> {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        if Instant::now() > end {
            return Err(Failure {
                what: format!("in vain was waited until {what}"),
                hangs: true,
            });
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The statements that give the rows of a query in the order in which its live query has them, by its text; `None` where
/// that is the query itself. They hold for one schema.
#[derive(Default)]
struct Orders {
    schema: Option<Fold>,
    by_query: HashMap<String, Option<Ordered>>,
    /// How often windows were compared.
    windows: u64,
}

#[derive(Clone)]
struct Ordered {
    statement: String,
    /// Which rows it gives may depend on the order, too.
    is_window: bool,
    /// It makes groups.
    groups: bool,
}

impl Orders {
    /// The rows that a fresh query gives, in the order in which a live query that may be maintained has them.
    fn in_order(&mut self, world: &World, query: &Statement) -> resqlite::Result<Fold> {
        let rows = Fold::of(&world.select(query)?);
        let Some(ordered) = self.ordered(world, query)? else {
            return Ok(rows);
        };
        let Ordered {
            statement,
            is_window,
            groups,
        } = ordered;
        let select = |sql: &str| world.select(&query.with_text(sql)).map(|rows| Fold::of(&rows));
        let first = |fold: Fold| fold.first_columns(rows.columns.len());
        let ordered = first(select(&statement)?);
        // Only the order may differ; and whether a group of 1 and 1.0 shows the one or the other.
        let same = |one: &Fold, other: &Fold| one.has_rows_of(other) || groups && one.has_equal_rows(other);
        let is_right = if is_window {
            self.windows += 1;
            let whole = select(&text::without_limit(&statement)).map(first);
            let plain = select(&text::without_limit(&query.sql));
            // The window is a part of the whole result. Some whole results fail.
            let is_part = |whole: Fold, plain| same(&whole, &plain) && whole.has_slice(&ordered);
            ordered.rows.len() == rows.rows.len()
                && whole
                    .ok()
                    .zip(plain.ok())
                    .is_none_or(|(whole, plain)| is_part(whole, plain))
        } else {
            same(&ordered, &rows)
        };
        Ok(if is_right { ordered } else { rows })
    }

    fn ordered(&mut self, world: &World, query: &Statement) -> resqlite::Result<Option<Ordered>> {
        if let Some(known) = self.by_query.get(&query.sql) {
            return Ok(known.clone());
        }
        let explained = block_on(world.db.explain_stream(&query.sql, &query.params[..]))?;
        let ordered = |statement, is_window, groups| {
            Some(Ordered {
                statement,
                is_window,
                groups,
            })
        };
        let has_limit = query.sql.contains(" LIMIT ");
        let ordered = match explained.maintenance {
            MaintenanceExplanation::Rows { statement } => ordered(statement, false, false),
            MaintenanceExplanation::Window { statement } => ordered(statement, true, false),
            MaintenanceExplanation::Groups { statement } => ordered(statement, has_limit, true),
            MaintenanceExplanation::Aggregates { statement } => ordered(statement, has_limit, true),
            MaintenanceExplanation::Rerun(_) => None,
        };
        self.by_query.insert(query.sql.clone(), ordered.clone());
        Ok(ordered)
    }

    /// Forgets all if the schema is another one.
    fn follow(&mut self, world: &World) {
        let schema = world.schema();
        if self.schema.as_ref() != Some(&schema) {
            self.by_query.clear();
            self.schema = Some(schema);
        }
    }
}

impl Stream {
    /// Gives the number of new emissions. `commit`: the newest of which the stream was told for certain.
    fn check(
        &mut self,
        number: usize,
        world: &World,
        commit: CommitId,
        orders: &mut Orders,
    ) -> Result<usize, Failure> {
        self.no_miss(number)?;
        let (emissions, errors) = self.check_told(number, world)?;
        let new = emissions - self.seen.emissions;
        self.seen = Seen {
            emissions,
            errors,
            commit,
        };
        self.check_result(number, world, orders)?;
        Ok(new)
    }

    fn wait_until_caught_up(&self, number: usize) -> Result<(), Failure> {
        let hangs = || format!("stream {number} does not catch up: {}", self.text());
        wait_until_called(|done| self.subscription.when_caught_up(done), hangs)
    }

    fn no_miss(&self, number: usize) -> Result<(), Failure> {
        match self.subscription.stats().missed {
            0 => Ok(()),
            missed => Err(Failure::new(format!(
                "stream {number} was skipped {missed} times, wrongly: {}",
                self.text()
            ))),
        }
    }

    /// What it was told since the last check: no more than one thing per commit, and nothing wrong.
    fn check_told(&self, number: usize, world: &World) -> Result<(usize, usize), Failure> {
        let told = self.notes.lock();
        let commit = world.db.engine().last_commit();
        if let Some(problem) = told.problems.first() {
            return Err(Failure::new(format!(
                "stream {number}: {problem}: {}",
                self.text()
            )));
        }
        let news = told.emissions + told.errors - self.seen.emissions - self.seen.errors;
        let commits = (commit.0 - self.seen.commit.0) as usize;
        let first = usize::from(self.seen.emissions + self.seen.errors == 0);
        if news > commits + first {
            return Err(Failure::new(format!(
                "stream {number} was told {news} things about {commits} commits: {}",
                self.text()
            )));
        }
        if told.emissions + told.errors == 0 {
            return Err(Failure::new(format!(
                "stream {number} has no first value: {}",
                self.text()
            )));
        }
        if told.commit > commit {
            return Err(Failure::new(format!(
                "stream {number} is ahead of the last commit"
            )));
        }
        Ok((told.emissions, told.errors))
    }

    fn check_result(&self, number: usize, world: &World, orders: &mut Orders) -> Result<(), Failure> {
        let is_maintained = self.maintenance != Maintenance::Never;
        let fresh = |query| {
            if is_maintained {
                orders.in_order(world, query)
            } else {
                world.select(query).map(|rows| Fold::of(&rows))
            }
        };
        let fresh: Result<Vec<_>, _> = self.queries.iter().map(fresh).collect();
        let told = self.notes.lock();
        let wrong = |what: String| Err(Failure::new(format!("stream {number}: {what}: {}", self.text())));
        match (fresh, &told.error) {
            (_, Some(_)) if told.ended => Ok(()),
            (Err(_), Some(_)) => Ok(()),
            (Err(error), None) => wrong(format!("the query fails ({error}), the stream does not say so")),
            (Ok(_), Some(error)) => wrong(format!("the query works, the stream says {error}")),
            (Ok(fresh), None) => {
                let differs = |(part, fresh): (&Fold, &Fold)| !part.equals(fresh);
                match told
                    .parts
                    .iter()
                    .zip(&fresh)
                    .position(|(part, rows)| differs((part, rows)))
                {
                    None => Ok(()),
                    Some(part) => wrong(format!(
                        "part {part} is not what a fresh query gives\nstream: {:?} {:?}\nfresh:  {:?} {:?}",
                        told.parts[part].columns,
                        told.parts[part].rows,
                        fresh[part].columns,
                        fresh[part].rows,
                    )),
                }
            }
        }
    }

    fn text(&self) -> String {
        let queries: Vec<String> = self.queries.iter().map(ToString::to_string).collect();
        queries.join(" ;; ")
    }
}
