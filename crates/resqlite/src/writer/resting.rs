//! Lets a file rest if it is not used, or not yet used.

use std::{sync::Arc, time::Duration};

use resqlite_live::CommitNumber;
use resqlite_sqlite::{Header, Parcel, codes};

use super::{context::WriterContext, files::Files, job::WriteJob};
use crate::core::{
    clock,
    error::{Error, Result},
    limits,
    options::{Checkpoints, Resting, Settings},
    sync::{Mutex, lock},
    workers::Timed,
};

/// Checks from time to time whether a file was used.
pub(crate) struct RestTimer {
    after: Duration,
    under_pressure: bool,
    context: WriterContext,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The newest commit at the last look.
    last: CommitNumber,
    /// The number of times that the file was asked to rest but did not: somebody else has it open.
    attempts: u32,
}

/// The number of attempts in vain after which the pause between two attempts grows no more.
const ATTEMPTS: u32 = 6;

impl RestTimer {
    /// Begins the checks, if the file may rest. Dropping the result ends them.
    pub(crate) fn begin(context: &WriterContext) -> Option<Arc<Self>> {
        let (after, under_pressure) = may_rest(context)?;
        // The first files stay awake, so that most programs need no timer.
        if under_pressure && !is_under_pressure(context) {
            return None;
        }
        let timer = Arc::new(Self {
            after,
            under_pressure,
            context: context.clone(),
            state: Mutex::default(),
        });
        timer.look_after(after);
        Some(timer)
    }

    fn look_after(self: &Arc<Self>, pause: Duration) {
        let workers = self.context.connections.workers();
        workers.at(clock::now() + pause, self);
    }
}

impl Timed for RestTimer {
    fn is_due(self: Arc<Self>) {
        let WriterContext {
            commits,
            connections,
            leases,
            location,
            queue,
            ..
        } = &self.context;
        let last = commits.last();
        let mut state = lock(&self.state);
        let was_written = std::mem::replace(&mut state.last, last) != last;
        let is_used = was_written || !connections.are_unused_for(self.after) || leases.are_open();
        if is_used || location.rest.is_resting() {
            state.attempts = 0;
        } else if !self.under_pressure || is_under_pressure(&self.context) {
            state.attempts += 1;
            // If the queue refuses, the file is in use or closed.
            let _ = queue.push(WriteJob::Rest(last));
        }
        let pause = match state.attempts {
            // The first attempt has copied the log. A moment later, the file may rest.
            1 => self.after.min(limits::REST_AGAIN),
            attempts => self.after * (1 << attempts.saturating_sub(2).min(ATTEMPTS)),
        };
        drop(state);
        self.look_after(pause);
    }
}

/// Opens a reader in place of the writer's connection, if that connection would change nothing in the file. Many programs never
/// write, and opening a second connection takes as long as opening the first.
///
/// # Errors
/// If another process has locked the file. Opening the writer's connection reports any other problem.
pub(super) fn begins_at_rest(context: &WriterContext) -> Result<bool> {
    let WriterContext {
        connections,
        location,
        ..
    } = context;
    let opened = match can_rest(context) && !location.encryption.is_on() {
        true => connections.open_reader(),
        false => return Ok(false),
    };
    let mut reader = match opened {
        Err(error) if is_locked(&error) => return Err(error),
        Err(_) => return Ok(false),
        Ok(reader) => Parcel::new(reader),
    };
    let header = reader.reading().connection().sqlite.header();
    let has_log = header.as_ref().is_some_and(Header::has_log);
    let rests = has_log && location.rest.begin_awake();
    if rests {
        location
            .health
            .log_is(Files::of(location.identity()).main_log().cloned());
    }
    connections.put(reader);
    Ok(rests)
}

fn is_locked(error: &Error) -> bool {
    let Error::Open { source, .. } = error else {
        return false;
    };
    source
        .as_ref()
        .is_some_and(|source| source.primary() == codes::BUSY)
}

fn is_under_pressure(context: &WriterContext) -> bool {
    context.connections.workers().users() > limits::FILES_AWAKE
}

/// Returns whether the connections of the file can close and open again.
fn can_rest(context: &WriterContext) -> bool {
    let Settings {
        untrusted,
        read_only,
        checkpoints,
        ..
    } = context.settings;
    context.location.identity().is_some() && !untrusted && !read_only && checkpoints != Checkpoints::Manual
}

/// Returns the time without use after which the file rests, and whether the file rests only if many files are open. `None` if it
/// does not rest.
fn may_rest(context: &WriterContext) -> Option<(Duration, bool)> {
    if !can_rest(context) {
        return None;
    }
    match context.settings.rest {
        Resting::Never => None,
        Resting::UnderPressure => Some((limits::REST_AFTER, true)),
        Resting::After(time) => Some((time, false)),
    }
}
