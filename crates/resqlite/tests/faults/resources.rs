//! What a process must give back: threads and open files. Known on Linux only; elsewhere nothing is found.

use std::{
    fs,
    path::Path,
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use crate::watchdog::Watch;

/// Engines are used under this; whoever has it alone knows that none is open.
static ENGINES: RwLock<()> = RwLock::new(());

/// To be held while an engine may be open.
pub fn using_engines() -> RwLockReadGuard<'static, ()> {
    ENGINES.read().unwrap_or_else(PoisonError::into_inner)
}

/// The engine's threads in this process, by name.
pub fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    let names = names.map(|name| name.trim().to_owned());
    names.filter(|name| name.starts_with("resqlite-")).collect()
}

/// Files in the folder that the process has open.
pub fn open_files(folder: &Path) -> usize {
    let links = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let files = links.filter_map(|link| fs::read_link(link.path()).ok());
    files.filter(|file| file.starts_with(folder)).count()
}

/// Waits until the engine's threads have ended; the last of them may just be leaving.
pub fn no_thread_is_left(test: &str) {
    let _alone = ENGINES.write().unwrap_or_else(PoisonError::into_inner);
    Watch::on(test).until("threads to end", || threads().is_empty());
}
