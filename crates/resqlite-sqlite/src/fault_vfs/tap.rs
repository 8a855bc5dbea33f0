//! What is told of, and done to, the files of one folder.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use super::{
    calls::{Call, Failure},
    plan::{Plan, Progress},
    record::{Event, Record},
};

/// The folders that are tapped.
static TAPS: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

thread_local! {
    /// The tap of the file that this thread used last.
    static LAST: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
}

/// Sees what SQLite does to the files of one folder, and to the temporary files of threads that use it. Once it is
/// dropped, nothing fails any more.
pub struct Tap(Arc<Shared>);

pub(super) struct Shared {
    folder: PathBuf,
    state: Mutex<State>,
}

/// What a tap knows.
#[derive(Default)]
pub(super) struct State {
    calls: BTreeMap<Call, u64>,
    plan: Option<Progress>,
    pub(super) record: Option<Record>,
    pub(super) open_files: usize,
}

impl Tap {
    /// Taps a folder: files that are opened in it from now on, but not in folders in it.
    ///
    /// # Errors
    /// The folder cannot be found.
    pub fn on(folder: &Path) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            folder: folder.canonicalize()?,
            state: Mutex::default(),
        });
        let mut taps = lock(&TAPS);
        taps.retain(|tap| tap.strong_count() > 0);
        taps.push(Arc::downgrade(&shared));
        Ok(Self(shared))
    }

    /// The calls so far, by kind.
    pub fn calls(&self) -> BTreeMap<Call, u64> {
        self.0.state().calls.clone()
    }

    /// Lets calls fail from now on, in the place of the plan before.
    pub fn inject(&self, plan: Plan) {
        self.0.state().plan = Some(Progress::new(plan));
    }

    /// Lets nothing fail any more; gives how many calls have failed.
    pub fn heal(&self) -> u64 {
        self.0.state().plan.take().map_or(0, |plan| plan.injected)
    }

    /// Files that are open: connections that were closed have none.
    pub fn open_files(&self) -> usize {
        self.0.state().open_files
    }

    /// Begins a record. The folder must be empty.
    pub fn record(&self) {
        self.0.state().record = Some(Record::default());
    }

    /// How many events the record has.
    pub fn position(&self) -> usize {
        self.0
            .state()
            .record
            .as_ref()
            .map_or(0, |record| record.events.len())
    }

    /// Ends the record and gives it.
    pub fn recorded(&self) -> Vec<Event> {
        let record = self.0.state().record.take();
        record.map_or_else(Vec::new, |record| record.events)
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
    /// Counts a call; says how it is to fail, if it is.
    pub(super) fn meets(self: &Arc<Self>, call: Call) -> Option<Failure> {
        LAST.set(Arc::downgrade(self));
        let mut state = self.state();
        *state.calls.entry(call).or_default() += 1;
        state.plan.as_mut()?.meets(call)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Whose the file of this path is, and its name in the folder.
pub(super) fn tapped(path: &str) -> Option<(Arc<Shared>, &str)> {
    let path = Path::new(path);
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let taps = lock(&TAPS);
    let mut alive = taps.iter().filter_map(Weak::upgrade);
    let tap = alive.find(|tap| tap.folder == folder)?;
    Some((tap, name))
}

/// Whose temporary file it is that this thread opens: a thread has one database.
pub(super) fn tapped_last() -> Option<Arc<Shared>> {
    LAST.with_borrow(Weak::upgrade)
}

/// A panic cannot leave what these locks guard half changed, so a poisoned lock is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
