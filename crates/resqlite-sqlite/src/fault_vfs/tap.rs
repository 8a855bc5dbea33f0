//! Taps: each observes the files of one folder and makes calls on them fail.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
};

use super::{
    calls::{Call, Failure},
    plan::{Plan, Progress},
    record::{Event, Record},
};
use crate::sync::lock;

/// All taps.
static TAPS: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

thread_local! {
    /// The tap of the last file that this thread used.
    static LAST: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
}

/// Observes the files of one folder, and the temporary files of threads that use it. After it is dropped, no call fails
/// any more.
pub struct Tap(Arc<Shared>);

pub(super) struct Shared {
    folder: PathBuf,
    state: Mutex<State>,
    /// Notified when the disk no longer hangs.
    goes_on: Condvar,
}

/// The state of a tap.
#[derive(Default)]
pub(super) struct State {
    calls: BTreeMap<Call, u64>,
    plan: Option<Progress>,
    pub(super) record: Option<Record>,
    pub(super) open_files: usize,
    hangs: bool,
    hanging: usize,
}

/// The disk of a folder hangs until this is dropped.
#[derive(Debug)]
pub struct Hang<'a>(&'a Tap);

impl Tap {
    /// Taps a folder: the files that are opened in it from now on, without subfolders.
    ///
    /// # Errors
    /// The folder does not exist.
    pub fn on(folder: &Path) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            folder: folder.canonicalize()?,
            state: Mutex::default(),
            goes_on: Condvar::new(),
        });
        let mut taps = lock(&TAPS);
        taps.retain(|tap| tap.strong_count() > 0);
        taps.push(Arc::downgrade(&shared));
        Ok(Self(shared))
    }

    /// Returns the number of calls so far, by kind.
    pub fn calls(&self) -> BTreeMap<Call, u64> {
        self.0.state().calls.clone()
    }

    /// Makes calls fail from now on. Replaces the previous plan.
    pub fn inject(&self, plan: Plan) {
        self.0.state().plan = Some(Progress::new(plan));
    }

    /// Ends the plan, so that no call fails any more. Returns how many calls have failed.
    pub fn heal(&self) -> u64 {
        self.0.state().plan.take().map_or(0, |plan| plan.injected)
    }

    /// Makes the disk hang: every call waits until the result is dropped.
    pub fn hang(&self) -> Hang<'_> {
        self.0.state().hangs = true;
        Hang(self)
    }

    /// Returns the number of open files; 0 once all connections are closed.
    pub fn open_files(&self) -> usize {
        self.0.state().open_files
    }

    /// Begins a record. The folder must be empty.
    pub fn record(&self) {
        self.0.state().record = Some(Record::default());
    }

    /// Returns the number of events in the record.
    pub fn position(&self) -> usize {
        self.0
            .state()
            .record
            .as_ref()
            .map_or(0, |record| record.events.len())
    }

    /// Ends the record and returns it.
    pub fn recorded(&self) -> Vec<Event> {
        let record = self.0.state().record.take();
        record.map_or_else(Vec::new, |record| record.events)
    }
}

impl Hang<'_> {
    /// Returns how many calls wait.
    pub fn calls(&self) -> usize {
        self.0.0.state().hanging
    }
}

impl Drop for Hang<'_> {
    fn drop(&mut self) {
        self.0.0.state().hangs = false;
        self.0.0.goes_on.notify_all();
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.heal();
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tap").field(&self.0.folder).finish()
    }
}

impl Shared {
    /// Counts a call, and waits while the disk hangs; returns how the call is to fail, if it is.
    pub(super) fn begin(self: &Arc<Self>, call: Call) -> Option<Failure> {
        LAST.set(Arc::downgrade(self));
        let mut state = self.state();
        state.hanging += 1;
        while state.hangs {
            state = self.goes_on.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.hanging -= 1;
        *state.calls.entry(call).or_default() += 1;
        state.plan.as_mut()?.begin(call)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Returns the tap of the folder of this path, and the name of the file in the folder.
pub(super) fn tapped(path: &str) -> Option<(Arc<Shared>, &str)> {
    let path = Path::new(path);
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let taps = lock(&TAPS);
    let mut alive = taps.iter().filter_map(Weak::upgrade);
    let tap = alive.find(|tap| tap.folder == folder)?;
    Some((tap, name))
}

/// Returns the tap for a temporary file of this thread: the tap of the file that the thread used last, because a thread
/// has one database.
pub(super) fn tapped_last() -> Option<Arc<Shared>> {
    LAST.with_borrow(Weak::upgrade)
}
