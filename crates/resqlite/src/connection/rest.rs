//! Files at rest: in use, but without a connection in this process.
//!
//! ```text
//! awake ── begin ──► resting ── a connection opens, or another program reads the file ──► awake
//!                       └────── the writer's connection is back: has anybody written meanwhile?
//! ```
//!
//! The system reports when another program reads a resting file. Without a read, that program cannot commit. So live queries wake. The
//! file itself shows whether the program has committed: a commit leaves a log, or changes the file when the log is removed.

use std::{
    fs,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use resqlite_sqlite::LogState;

pub(crate) use super::touched::tell as tell_of_touched_files;
use super::{
    known_file::KnownFile,
    touched::{self, Touched, Watch},
};
use crate::core::sync::{Mutex, lock};

/// The rest of a file, shared by all connections of an engine.
#[derive(Debug)]
pub(crate) struct Rest {
    path: String,
    /// States that the state has a watch. It is written under the lock of the state.
    is_resting: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The file that the writer's connection had open, until the connection is back.
    file: Option<KnownFile>,
    /// The watch, while the file rests.
    watch: Option<Watch>,
    /// The file as it was when the connections began to close.
    left: Option<Left>,
    /// The log that the connections left, because another program has the file open.
    log: Option<LogState>,
    /// States that another program has read or written the file.
    is_disturbed: bool,
    /// States that the file was deleted while nobody had it open. Another file may have its number
    /// now.
    is_gone: bool,
}

/// The size and time of a file to which its log was copied.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    bytes: u64,
    written: SystemTime,
}

/// The number of rests that have ended in this process.
static WAKES: AtomicU64 = AtomicU64::new(0);

/// Returns a number that changes when a file wakes.
pub(crate) fn wakes() -> u64 {
    WAKES.load(Ordering::Acquire)
}

/// The resolution of file times: two writes that are closer together may have the same time.
const CLOCK_TICK: Duration = Duration::from_millis(20);

impl Rest {
    pub(super) fn new(path: String) -> Arc<Self> {
        Arc::new(Self {
            path,
            is_resting: AtomicBool::new(false),
            state: Mutex::default(),
        })
    }

    /// Begins to rest, before the connections close. `log` has been copied, so closing the connections does not change the file any more.
    /// Returns `false` if the copy was a moment ago, or if the system does not report what other programs do with the file.
    pub(crate) fn begin(self: &Arc<Self>, log: Option<LogState>) -> bool {
        let this: Weak<Self> = Arc::downgrade(self);
        let watch = touched::watch(&self.path, this);
        watch.is_some() && self.note(watch, log)
    }

    /// Lets the writer's connection open only when it is needed, while others read the file. Returns `false` if the file was written a
    /// moment ago, or has a log that must be copied.
    pub(crate) fn begin_awake(&self) -> bool {
        !self.has_log() && self.note(None, None)
    }

    fn note(&self, watch: Option<Watch>, log: Option<LogState>) -> bool {
        let file = KnownFile::at(self.path.clone());
        let left = Left::of(&self.path).filter(Left::is_old);
        let begins = file.is_some() && left.is_some();
        if begins {
            self.with(|state| {
                *state = State {
                    file,
                    watch,
                    left,
                    log,
                    ..State::default()
                };
            });
        }
        begins
    }

    /// Forgets the rest: the connections stay open after all.
    pub(crate) fn cancel(&self) {
        self.with(std::mem::take);
    }

    /// Notes that the connections are closed. Returns whether the file rests now. It does not rest if another program has it open.
    pub(crate) fn settles(&self) -> bool {
        touched::tell();
        self.with(|state| {
            let rests = state.watch.is_some() && fs::symlink_metadata(self.log()).is_err();
            if rests {
                state.log = None;
            } else {
                // Other programs may read the file.
                (state.watch, state.is_disturbed) = (None, false);
            }
            rests
        })
    }

    fn log(&self) -> String {
        format!("{}-wal", self.path)
    }

    fn has_log(&self) -> bool {
        fs::metadata(self.log()).is_ok_and(|log| log.len() > 0)
    }

    pub(crate) fn is_resting(&self) -> bool {
        self.is_resting.load(Ordering::Acquire)
    }

    /// Runs `work` on the state.
    fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> R {
        let mut state = lock(&self.state);
        let result = work(&mut state);
        let rests = state.watch.is_some();
        if self.is_resting.swap(rests, Ordering::AcqRel) && !rests {
            WAKES.fetch_add(1, Ordering::Release);
        }
        result
    }

    /// Ends the rest, before a connection opens. Returns `false` if the file is now a different
    /// one.
    pub(super) fn end(&self) -> bool {
        if self.is_resting() {
            touched::tell();
        }
        self.with(|state| {
            state.watch = None;
            !state.is_gone && state.file.as_ref().is_none_or(KnownFile::is_there)
        })
    }

    /// Notes that the writer's connection is back, with this log. Returns whether it is certain that nobody has committed between the
    /// beginning of the rest and the moment when SQLite's count of commits was read.
    pub(crate) fn was_undisturbed(&self, log: Option<LogState>) -> bool {
        let state = self.with(std::mem::take);
        let is_same_log = || match state.log {
            Some(_) => state.log == log,
            None => !self.has_log(),
        };
        let is_as_left = || is_same_log() && Left::of(&self.path) == state.left;
        state.file.is_none() || (!state.is_disturbed && is_as_left())
    }
}

impl Touched for Rest {
    fn was_touched(&self, is_gone: bool) {
        self.with(|state| {
            if state.watch.take().is_some() {
                state.is_disturbed = true;
                state.is_gone = is_gone;
            }
        });
    }
}

impl Left {
    /// Returns whether another write would get another time.
    fn is_old(&self) -> bool {
        self.written.elapsed().is_ok_and(|age| age > CLOCK_TICK)
    }

    fn of(path: &str) -> Option<Self> {
        let data = fs::metadata(path).ok()?;
        Some(Self {
            bytes: data.len(),
            written: data.modified().ok()?,
        })
    }
}
