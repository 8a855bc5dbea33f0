//! Has a file rest that is not used.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use resqlite_live::CommitNumber;

use super::{context::WriterContext, job::WriteJob};
use crate::core::{
    clock, limits,
    options::{Checkpoints, Resting, Settings},
    sync::{Mutex, lock},
    workers::Timed,
};

/// Looks from time to time whether a file was used.
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
    /// How often the file was asked to rest, and has not: somebody else has it open.
    attempts: u32,
}

/// After so many attempts in vain, the pause between two of them grows no more.
const ATTEMPTS: u32 = 6;

impl RestTimer {
    /// Begins to look, if the file may rest. Dropping the result ends that.
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
        let timer: Weak<Self> = Arc::downgrade(self);
        let workers = self.context.connections.workers();
        workers.at(clock::now() + pause, timer);
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
            // The first has copied the log. A moment later, the file may rest.
            1 => self.after.min(limits::REST_AGAIN),
            attempts => self.after * (1 << attempts.saturating_sub(2).min(ATTEMPTS)),
        };
        drop(state);
        self.look_after(pause);
    }
}

fn is_under_pressure(context: &WriterContext) -> bool {
    context.connections.workers().files() > limits::FILES_AWAKE
}

/// After how long without use, and whether only where many files are open. `None` if the file cannot rest.
fn may_rest(context: &WriterContext) -> Option<(Duration, bool)> {
    let Settings {
        rest,
        untrusted,
        read_only,
        checkpoints,
        ..
    } = context.settings;
    context.location.identity()?;
    if untrusted || read_only || checkpoints == Checkpoints::Manual {
        return None;
    }
    match rest {
        Resting::Never => None,
        Resting::UnderPressure => Some((limits::REST_AFTER, true)),
        Resting::After(time) => Some((time, false)),
    }
}
