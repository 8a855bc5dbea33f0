//! Runs live queries on a reader.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use resqlite_live::{Dependencies, Difference, Reason, Run, fault::planted};

use super::{
    Delivery, Emission, Hub, Listener,
    coordinator::{Ran, Turn},
    stats::Counters,
    stream::{Part, PerQuery, State, Stream},
};
use crate::{
    connection::engine_connection::Statements,
    core::{
        error::{Error, Result},
        limits,
        sync::lock,
    },
    dependencies::Explanation,
    reader::Reader,
    requests::request::Query,
    rows::{Shape, Slice},
};

/// What a reader can be asked that has to do with live queries.
pub(crate) enum LiveJob {
    /// The first run of one.
    First(Arc<Hub>, Arc<Stream>),
    /// The runs that are due.
    Next(Arc<Hub>),
    /// The runs of queries that have gathered.
    Release(Arc<Hub>),
    /// A query met an error that may have passed by now.
    Retry(Arc<Hub>, Weak<Stream>),
    /// What a query depends on.
    Explain(Query, Box<dyn FnOnce(Result<Explanation>) + Send>),
}

impl LiveJob {
    pub(crate) fn run(self, reader: &mut Reader) {
        match self {
            Self::First(hub, stream) => {
                let turn = Turn {
                    stream,
                    reason: None,
                    verifying: false,
                    seen: 0,
                    taken_at: (None, 0),
                };
                guarded(&hub, reader, &turn);
            }
            Self::Next(hub) => work(&hub, reader),
            Self::Release(hub) => {
                hub.release();
                work(&hub, reader);
            }
            Self::Retry(hub, stream) => retry(&hub, &stream),
            Self::Explain(query, done) => {
                let explained = catch_unwind(AssertUnwindSafe(|| explain(reader, &query)));
                match explained {
                    Ok(explained) => done(explained),
                    Err(panic) => {
                        done(Err(Error::WorkerDied));
                        resume_unwind(panic);
                    }
                }
            }
        }
    }

    pub(crate) fn fail(self, error: Error) {
        match self {
            Self::First(hub, stream) => {
                let _known = hub.take_out(stream.id);
                lock(&stream.state).listener.fail(&error, true);
                hub.check();
            }
            Self::Next(hub) => fail_due(&hub, &error),
            Self::Release(hub) => {
                hub.release();
                fail_due(&hub, &error);
            }
            // The query is run again all the same; that run tells the error.
            Self::Retry(hub, stream) => retry(&hub, &stream),
            Self::Explain(_, done) => done(Err(error)),
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        match self {
            Self::First(_, stream) => stream.scope.is_cancelled(),
            Self::Next(_) | Self::Release(_) | Self::Retry(..) | Self::Explain(..) => false,
        }
    }
}

/// Runs what little is due, for a thread that has no time for more: see [`Hub::catch_up_or_run_here`].
pub(crate) fn run_here(hub: &Arc<Hub>, reader: &mut Reader) {
    hub.work_begins();
    let _done = WorkDone(hub);
    let guard = reader.statements().guard.clone();
    guard.set_deadline(Some(Instant::now() + limits::WRITER_RUNS_MAX));
    let turns = Turns {
        left: hub.take_turns(),
        hub,
    };
    turns.run(reader);
    guard.set_deadline(None);
}

/// Says that the thread that was to call [`run_here`] cannot.
pub(crate) fn cannot_run_here(hub: &Arc<Hub>) {
    hub.work_begins();
    drop(WorkDone(hub));
}

/// Makes a live query run again, unless it works again or has ended.
fn retry(hub: &Arc<Hub>, stream: &Weak<Stream>) {
    let Some(stream) = stream.upgrade() else { return };
    let mut state = lock(&stream.state);
    state.retry_planned = false;
    let failing = state.error.is_some();
    drop(state);
    if failing {
        hub.retry(&stream);
    }
}

/// Runs what is due, for a while: then others may have the thread.
fn work(hub: &Arc<Hub>, reader: &mut Reader) {
    hub.work_begins();
    let _done = WorkDone(hub);
    let began = Instant::now();
    // What is due may be due to commits that a read transaction shared with the jobs before does not show.
    if let Err(error) = reader.end_read() {
        return fail_taken(hub, &error);
    }
    while began.elapsed() < limits::WORK_TURN {
        let turns = Turns {
            left: hub.take_turns(),
            hub,
        };
        if turns.left.is_empty() {
            break;
        }
        turns.run(reader);
    }
}

/// Runs to make on one committed state. Those that a panic keeps from being made are given back.
struct Turns<'a> {
    left: VecDeque<Turn>,
    hub: &'a Arc<Hub>,
}

impl Turns<'_> {
    fn run(mut self, reader: &mut Reader) {
        let hub = self.hub;
        // It begins after the turns were taken, so it shows what made them due.
        let read = reader.in_read(|reader, _| {
            while let Some(turn) = self.left.pop_front() {
                guarded(hub, reader, &turn);
            }
            Ok(())
        });
        if let Err(error) = read {
            while let Some(turn) = self.left.pop_front() {
                fail_turn(hub, &turn, &error);
            }
        }
    }
}

impl Drop for Turns<'_> {
    fn drop(&mut self) {
        if !self.left.is_empty() {
            self.hub.give_back(self.left.drain(..));
        }
    }
}

/// Tells all queries that are due that they cannot be run.
fn fail_due(hub: &Arc<Hub>, error: &Error) {
    hub.work_begins();
    let _done = WorkDone(hub);
    fail_taken(hub, error);
}

fn fail_taken(hub: &Arc<Hub>, error: &Error) {
    loop {
        let turns = hub.take_turns();
        if turns.is_empty() {
            return;
        }
        turns.iter().for_each(|turn| fail_turn(hub, turn, error));
    }
}

fn fail_turn(hub: &Arc<Hub>, Turn { stream, .. }: &Turn, error: &Error) {
    let ran = failed(hub, stream, &mut lock(&stream.state), error, hub.commits.last());
    if let Some(ran) = ran {
        hub.finished(stream, ran);
    }
}

/// Tells the hub that a thread is done, even if it panicked.
struct WorkDone<'a>(&'a Arc<Hub>);

impl Drop for WorkDone<'_> {
    fn drop(&mut self) {
        self.0.work_done();
    }
}

/// Makes a run. If it panics, the listener is told, the query lives on, and the reader is replaced.
fn guarded(hub: &Arc<Hub>, reader: &mut Reader, turn: &Turn) {
    let mut state = lock(&turn.stream.state);
    if turn.stream.scope.is_cancelled() {
        return;
    }
    let (before, began) = (hub.commits.last(), Instant::now());
    let run = catch_unwind(AssertUnwindSafe(|| make(hub, reader, turn, &mut state)));
    let ran = match &run {
        Ok(Ok(ran)) => Some(ran.clone()),
        Ok(Err(Error::TimedOut)) if !state.handed_over => {
            drop(state);
            return hub.put_off(turn, began.elapsed().as_micros() as u64);
        }
        // Whoever cancelled it does not listen any more.
        Ok(Err(_)) if turn.stream.scope.is_cancelled() => None,
        Ok(Err(error)) => failed(hub, &turn.stream, &mut state, error, before),
        Err(_) => failed(hub, &turn.stream, &mut state, &Error::WorkerDied, before),
    };
    drop(state);
    match ran {
        Some(ran) => hub.finished(&turn.stream, ran),
        None => hub.check(),
    }
    if let Err(panic) = run {
        resume_unwind(panic);
    }
}

fn make(hub: &Arc<Hub>, reader: &mut Reader, turn: &Turn, state: &mut State) -> Result<Ran> {
    let (stream, began) = (&turn.stream, Instant::now());
    stream.counters.set_reason(turn.reason);
    let read = reader.in_read(|reader, since| {
        debug_assert!(
            since >= turn.seen,
            "the snapshot is older than what made the query due"
        );
        Ok((since, run_queries(hub, reader, stream, state)?))
    });
    // One that is given up is made by others, and counted there.
    if state.worked && !matches!(read, Err(Error::TimedOut)) {
        count_run(hub, turn);
    }
    let (since, results) = read?;
    let since = if planted("since_after") {
        hub.commits.last()
    } else {
        since
    };
    let micros = (began.elapsed().as_micros() as u64).max(1);
    stream.counters.last_micros.store(micros, Relaxed);
    stream
        .counters
        .add(&hub.totals, |counters| &counters.total_micros, micros);

    let changed = results.iter().any(|result| result.difference.is_some());
    let volatile = results.iter().any(|result| result.reads.is_volatile());
    let (settled, foreign) = turn.taken_at;
    let undisturbed = settled.is_some() && hub.commits.settled() == settled;
    if turn.verifying && changed && undisturbed && !volatile {
        hub.suspect(stream, foreign);
    }
    state.passing = 0;
    let news = changed || !state.worked || state.error.is_some();
    let dependencies = keep(hub, stream, state, results);
    let pending = news && tell(hub, turn, state, since, micros) == Delivery::Pending;
    if !news && !turn.verifying {
        stream
            .counters
            .add(&hub.totals, |counters| &counters.unchanged, 1);
    }
    Ok(Ran {
        since,
        micros,
        pending,
        dependencies,
        retry: None,
    })
}

fn count_run(hub: &Hub, turn: &Turn) {
    let counter: fn(&Counters) -> &AtomicU64 = if turn.verifying {
        |counters| &counters.verified
    } else {
        |counters| &counters.requeries
    };
    turn.stream.counters.add(&hub.totals, counter, 1);
}

/// Tells the listener that the patches it was given make a new result.
fn tell(hub: &Hub, turn: &Turn, state: &mut State, commit: u64, micros: u64) -> Delivery {
    turn.stream
        .counters
        .add(&hub.totals, |counters| &counters.emitted, 1);
    // A verifying run that finds something new has no reason of its own.
    let reason = turn.reason.or(state.worked.then_some(Reason::Everything));
    (state.worked, state.error) = (true, None);
    state.listener.emit(Emission {
        commit,
        reason,
        micros,
    })
}

/// A listener, and whether it was given anything.
struct Watched<'a> {
    listener: &'a mut dyn Listener,
    handed_over: &'a mut bool,
}

impl Listener for Watched<'_> {
    fn rows(&mut self, shape: &Arc<Shape>, slice: &Slice<'_>) -> bool {
        *self.handed_over = true;
        self.listener.rows(shape, slice)
    }

    fn patch(&mut self, part: usize, shape: &Arc<Shape>, runs: &[Run]) {
        *self.handed_over = true;
        self.listener.patch(part, shape, runs);
    }

    fn emit(&mut self, emission: Emission) -> Delivery {
        self.listener.emit(emission)
    }

    fn fail(&mut self, error: &Error, ended: bool) -> Delivery {
        self.listener.fail(error, ended)
    }
}

/// What one query of a stream came to.
struct PartResult {
    shape: Arc<Shape>,
    reads: Arc<crate::dependencies::Reads>,
    dependencies: Option<Arc<Dependencies>>,
    /// What is new, if anything is.
    difference: Option<Difference>,
}

/// Runs all queries of a stream on one committed state. Patches go to the listener.
fn run_queries(
    hub: &Hub,
    reader: &mut Reader,
    stream: &Stream,
    state: &mut State,
) -> Result<PerQuery<PartResult>> {
    let mut results = PerQuery::new();
    state.handed_over = false;
    for (number, query) in stream.queries.iter().enumerate() {
        let first = !state.worked;
        let State {
            parts,
            listener,
            handed_over,
            ..
        } = state;
        let statements = reader.statements();
        let mut listener = Watched {
            listener: &mut **listener,
            handed_over,
        };
        let part = &parts[number];
        statements.guard.start(&query.token);
        let result = run_query(hub, statements, query, part, &mut listener, first);
        let result = result.map_err(|error| statements.guard.explain(error));
        statements.guard.stop();
        let result = result?;
        if let Some(difference) = &result.difference {
            statements.guard.set_deadline(None);
            listener.patch(number, &result.shape, &difference.runs);
        }
        results.push(result);
    }
    Ok(results)
}

fn run_query(
    hub: &Hub,
    statements: &mut Statements,
    query: &Query,
    part: &Part,
    listener: &mut dyn Listener,
    first: bool,
) -> Result<PartResult> {
    let (shape, difference) =
        statements.compare(query, hub.seed, part.shape.as_ref(), &part.fingerprints, listener)?;
    let difference = difference.or_else(|| first.then(Difference::default));
    let reads = statements.reads(&query.sql)?;
    let known = part
        .reads
        .as_ref()
        .is_some_and(|known| Arc::ptr_eq(known, &reads) || **known == *reads);
    let dependencies = if known {
        None
    } else {
        let statement = &statements.get(&query.sql)?.statement;
        Some(Arc::new(reads.resolve(statement, &query.params)))
    };
    Ok(PartResult {
        shape,
        reads,
        dependencies,
        difference,
    })
}

/// Remembers what a run came to; gives what the stream depends on, if that is new.
fn keep(
    hub: &Hub,
    stream: &Stream,
    state: &mut State,
    results: PerQuery<PartResult>,
) -> Option<Arc<Dependencies>> {
    // An error has put something else in the place of what they are.
    let news = state.error.is_some() || results.iter().any(|result| result.dependencies.is_some());
    let volatile = results.iter().any(|result| result.reads.is_volatile());
    stream.counters.volatile.store(volatile.into(), Relaxed);
    for (part, result) in state.parts.iter_mut().zip(results) {
        if let Some(difference) = result.difference {
            stream.counters.add(
                &hub.totals,
                |counters| &counters.rows_patched,
                difference.new_rows(),
            );
            part.fingerprints = difference.fingerprints;
        }
        part.shape = Some(result.shape);
        part.reads = Some(result.reads);
        if let Some(dependencies) = result.dependencies {
            part.dependencies = dependencies;
        }
    }
    let rows: usize = state.parts.iter().map(|part| part.fingerprints.len()).sum();
    stream.counters.rows.store(rows as u64, Relaxed);
    news.then(|| together(&state.parts))
}

/// What the queries depend on together.
fn together(parts: &[Part]) -> Arc<Dependencies> {
    if let [part] = parts {
        return Arc::clone(&part.dependencies);
    }
    let tables = parts.iter().flat_map(|part| &part.dependencies.tables);
    Arc::new(Dependencies {
        everything: parts.iter().any(|part| part.dependencies.everything),
        tables: tables.cloned().collect(),
    })
}

/// Tells the listener of an error, unless it knows of it. From now on any commit may be what heals the query, those after
/// number `since` included; one that never worked ends.
fn failed(hub: &Arc<Hub>, stream: &Stream, state: &mut State, error: &Error, since: u64) -> Option<Ran> {
    if !state.worked {
        let _known = hub.take_out(stream.id);
        state.listener.fail(error, true);
        return None;
    }
    let text = error.to_string();
    let news = state.error.as_ref() != Some(&text);
    let mut pending = false;
    // Rows that it was given before the run failed are void, which only an error tells.
    if news || (state.handed_over && !planted("keep_void_rows")) {
        stream
            .counters
            .add(&hub.totals, |counters| &counters.errors, news.into());
        pending = state.listener.fail(error, false) == Delivery::Pending;
        state.error = Some(text);
        // Nothing is void from here on, until rows are given again.
        state.handed_over = false;
    }
    let anything = Dependencies {
        everything: true,
        ..Dependencies::default()
    };
    Some(Ran {
        since,
        micros: 0,
        pending,
        dependencies: news.then(|| Arc::new(anything)),
        retry: plan_retry(state, error),
    })
}

/// How long a live query waits that met an error which may pass; `None` if it does not, or waits already.
fn plan_retry(state: &mut State, error: &Error) -> Option<Duration> {
    if !error.is_passing() || state.retry_planned || planted("no_retry") {
        return None;
    }
    let pause = limits::RETRY_FIRST * (1 << state.passing.min(16));
    state.passing = state.passing.saturating_add(1);
    state.retry_planned = true;
    Some(pause.min(limits::RETRY_MAX))
}

fn explain(reader: &mut Reader, query: &Query) -> Result<Explanation> {
    reader.in_read(|reader, _| reader.statements().explain(query))
}
